//! Errors of the compiler are part of the interface: each file in `tests/compile` must fail to compile, and
//! the compiler must say what the file's first lines, marked `//~`, say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn code_that_cannot_work_does_not_compile_and_the_compiler_says_what_to_do() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile");
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let said = compile(&file);
        let text = fs::read_to_string(&file).unwrap();
        for expected in text.lines().map_while(|line| line.strip_prefix("//~ ")) {
            assert!(said.contains(expected), "{}: {expected:?} is not in\n{said}", file.display());
        }
    }
}

/// What the compiler says about a file that it must refuse.
fn compile(file: &Path) -> String {
    let dependencies = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = library(&dependencies);
    let output = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .args(["--edition", "2024", "--emit", "metadata", "--diagnostic-width", "10000", "-o"])
        .arg(std::env::temp_dir().join(format!("kubewright-refused-{}", std::process::id())))
        .arg(format!("-Ldependency={}", dependencies.display()))
        .arg(format!("--extern=kubewright={}", library.display()))
        .arg(file)
        .output()
        .unwrap();
    assert!(!output.status.success(), "{} compiles", file.display());
    String::from_utf8(output.stderr).unwrap()
}

/// The library that this test was linked with: the newest.
fn library(directory: &Path) -> PathBuf {
    let libraries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let libraries = libraries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libkubewright-") && name.ends_with(".rlib")
    });
    libraries.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}
