//! `kubewright image build` as a person types it: a real static program in an image, without Docker.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// An operator that uses a library outside of its folder, as one does whose kubewright is not published.
fn folders() -> TempDir {
    let folders = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"memo-operator\"\nversion = \"0.3.0\"\nedition = \"2024\"\n\
                    [dependencies]\nwords = { path = \"../words\" }\n";
    let library = "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let files = [
        ("memo/kubewright.toml", "name = \"memo-operator\"\nimage = \"localhost/team/memo\"\n"),
        ("memo/Cargo.toml", manifest),
        ("memo/src/main.rs", "fn main() {\n    println!(\"{}\", words::WORDS);\n}\n"),
        ("memo/bundle/metadata/annotations.yaml", "annotations: {}\n"),
        ("words/Cargo.toml", library),
        ("words/src/lib.rs", "pub const WORDS: &str = \"words of a library\";\n"),
    ];
    for (path, content) in files {
        let path = folders.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folders
}

fn kubewright(folders: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(folders.join("memo"))
        .env("CARGO_TARGET_DIR", folders.join("target"))
        .env("KUBEWRIGHT_STATE", folders.join("state"))
        .output()
        .unwrap()
}

fn built(folders: &Path, arguments: &[&str]) -> Value {
    let output = kubewright(folders, &[&["image", "build", "-o", "json"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program in the image.
fn program(image: &Path) -> Vec<u8> {
    let mut image = tar::Archive::new(std::fs::File::open(image).unwrap());
    let mut layer = Vec::new();
    for entry in image.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if path.extension().is_some_and(|extension| extension == "tar") {
            entry.read_to_end(&mut layer).unwrap();
        }
    }
    let mut program = Vec::new();
    for entry in tar::Archive::new(layer.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().ends_with("memo-operator") {
            entry.read_to_end(&mut program).unwrap();
        }
    }
    program
}

#[test]
fn an_image_is_called_as_the_project_says_and_is_small_unless_the_project_says_otherwise() {
    let folders = folders();
    let answer = built(folders.path(), &[]);
    assert_eq!(answer["name"], "localhost/team/memo:v0.3.0");
    let file = Path::new(answer["file"].as_str().unwrap());
    assert_eq!(answer["bytes"], std::fs::metadata(file).unwrap().len());
    assert!(answer["id"].as_str().unwrap().starts_with("sha256:"), "{answer}");

    let program = program(file);
    let path = folders.path().join("program");
    std::fs::write(&path, &program).unwrap();
    make_executable(&path);
    let said = Command::new(&path).output().unwrap();
    assert_eq!(text(&said.stdout), "words of a library\n");
    assert!(!has_symbols(&program));

    // A project that has a profile keeps it.
    let manifest = folders.path().join("memo/Cargo.toml");
    let own = "[profile.dist]\ninherits = \"dev\"\nstrip = false\n";
    let content = std::fs::read_to_string(&manifest).unwrap() + own;
    std::fs::write(&manifest, content).unwrap();
    let answer = built(folders.path(), &["--image", "localhost/team/memo:own"]);
    assert_eq!(answer["name"], "localhost/team/memo:own");
    let own = self::program(Path::new(answer["file"].as_str().unwrap()));
    assert!(has_symbols(&own) && own.len() > program.len());
}

/// Profile `dist` strips them.
fn has_symbols(program: &[u8]) -> bool {
    program.windows(8).any(|window| window == b".symtab\0")
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_bundle_is_not_called_as_its_operator() {
    let folders = folders();
    let file = folders.path().join("bundle.tar");
    let answer = built(folders.path(), &["--bundle", "bundle", "--file", file.to_str().unwrap()]);
    assert_eq!(answer["name"], "localhost/team/memo-bundle:v0.3.0");
    assert_eq!(answer["file"], file.to_str().unwrap());
}

#[test]
fn builds_of_one_image_at_the_same_time_do_not_disturb_each_other() {
    let folders = folders();
    let images = folders.path().join("images");
    let file = images.join("bundle.tar");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    built(
                        folders.path(),
                        &["--bundle", "bundle", "--file", file.to_str().unwrap()],
                    );
                }
            });
        }
    });
    let left: Vec<_> =
        std::fs::read_dir(&images).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["bundle.tar"]);
}

#[test]
fn nothing_is_built_for_nodes_that_are_not_there() {
    let folders = folders();
    let refused = kubewright(folders.path(), &["image", "build", "--load"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).starts_with("error: nothing is up"), "{}", text(&refused.stderr));
    assert!(!folders.path().join("target").exists());
}

#[test]
fn what_was_not_built_is_neither_pushed_nor_loaded() {
    let folders = folders();
    for verb in ["push", "load"] {
        let refused = kubewright(folders.path(), &["image", verb]);
        assert_eq!(refused.status.code(), Some(1));
        let sentence = "error: no image localhost/team/memo:v0.3.0 was built: ";
        assert!(text(&refused.stderr).starts_with(sentence), "{}", text(&refused.stderr));
    }
}
