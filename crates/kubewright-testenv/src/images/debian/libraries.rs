//! Which shared libraries an unpacked program needs, asked from the loader that was unpacked with
//! it.
//!
//! Guarantees: every library is one of the unpacked ones; the loader also searches the machine's own
//! directories, so each answer is checked. Writes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::DebianError;
use super::command::run;
use crate::images::elf;

/// The loader answers in milliseconds, on a busy machine in more.
const LIMIT: Duration = Duration::from_secs(30);

/// A program below an unpacked root, with the loader that runs it from there.
#[derive(Debug)]
pub(super) struct Unpacked<'a> {
    root: &'a Path,
    program: &'a Path,
    /// Where the program wants its loader to be.
    interpreter: PathBuf,
    /// Where the loader was unpacked to.
    loader: PathBuf,
    directories: Vec<PathBuf>,
}

impl<'a> Unpacked<'a> {
    /// `root` must be a canonical path.
    pub(super) fn new(root: &'a Path, program: &'a Path) -> Result<Self, DebianError> {
        let missing = |library: &Path| DebianError::NoLibrary {
            program: program.to_owned(),
            library: library.display().to_string(),
        };
        let interpreter = elf::interpreter(program).map_err(DebianError::io("read", program))?;
        let interpreter = interpreter.ok_or_else(|| missing(Path::new("a loader")))?;
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let directories = ["usr/lib", "lib"].map(|directory| root.join(directory).join(&triplet));
        let name = interpreter.file_name().unwrap_or_default();
        let loader = directories.iter().map(|directory| directory.join(name));
        let loader = loader.into_iter().find_map(|path| fs::canonicalize(path).ok());
        let loader = loader.filter(|path| path.starts_with(root));
        let loader = loader.ok_or_else(|| missing(&interpreter))?;
        Ok(Self { root, program, interpreter, loader, directories: directories.into() })
    }

    /// The loader and the libraries: the path in the image, and the file.
    pub(super) fn libraries(&self) -> Result<BTreeMap<PathBuf, PathBuf>, DebianError> {
        let action = format!("list the libraries of {}", self.program.display());
        let output = run(&action, self.command().arg("--list").arg(self.program), LIMIT)?;
        let mut libraries = BTreeMap::from([(self.interpreter.clone(), self.loader.clone())]);
        for (library, path) in listed(&output) {
            let path = path.ok_or_else(|| DebianError::NoLibrary {
                program: self.program.to_owned(),
                library: library.to_owned(),
            })?;
            let (place, file) = self.inside(path)?;
            if file != self.loader {
                libraries.insert(place, file);
            }
        }
        Ok(libraries)
    }

    /// What the program prints with these arguments.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<String, DebianError> {
        let action = format!("run {}", self.program.display());
        run(&action, self.command().arg(self.program).args(arguments), LIMIT)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.loader);
        let search = self.directories.iter().map(|directory| directory.as_os_str());
        command
            .env_remove("LD_PRELOAD")
            .env_remove("LD_LIBRARY_PATH")
            .args(["--inhibit-cache", "--library-path"])
            .arg(search.collect::<Vec<_>>().join(std::ffi::OsStr::new(":")));
        command
    }

    /// Where a library goes in the image, and the file that it is. An error if the file or what it
    /// points to is the machine's.
    fn inside(&self, path: &Path) -> Result<(PathBuf, PathBuf), DebianError> {
        let outside =
            || DebianError::HostLibrary { program: self.program.to_owned(), path: path.to_owned() };
        let place = Path::new("/").join(path.strip_prefix(self.root).map_err(|_| outside())?);
        let file = fs::canonicalize(path).map_err(DebianError::io("read", path))?;
        if file.starts_with(self.root) { Ok((place, file)) } else { Err(outside()) }
    }
}

/// The libraries that a loader's `--list` names, each with the file it would take, none if it found
/// no file. The kernel's own library has no file and is left out.
fn listed(output: &str) -> Vec<(&str, Option<&Path>)> {
    let lines = output.lines().map(|line| {
        let line = line.trim();
        line.rsplit_once(" (0x").map_or(line, |(before, _address)| before)
    });
    lines
        .filter_map(|line| match line.split_once(" => ") {
            Some((library, "not found")) => Some((library, None)),
            Some((library, path)) => Some((library, Some(Path::new(path)))),
            None => line.starts_with('/').then(|| (line, Some(Path::new(line)))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with a program of this machine and its loader, but none of its libraries.
    fn root() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("program");
        let original = std::env::current_exe().unwrap();
        let loader = elf::interpreter(&original).unwrap().unwrap();
        let triplet = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let directory = root.path().join(triplet);
        fs::create_dir_all(&directory).unwrap();
        fs::copy(&loader, directory.join(loader.file_name().unwrap())).unwrap();
        fs::copy(original, &program).unwrap();
        (root, program)
    }

    #[test]
    fn a_library_of_the_machine_is_never_taken() {
        let (root, program) = root();
        let root = fs::canonicalize(root.path()).unwrap();
        let error = Unpacked::new(&root, &program).unwrap().libraries().unwrap_err();
        assert!(matches!(error, DebianError::HostLibrary { .. }), "{error:?}");
    }

    #[test]
    fn a_link_out_of_the_root_is_never_followed() {
        let (root, program) = root();
        let root = fs::canonicalize(root.path()).unwrap();
        let link = root.join("usr/lib/libc.so.6");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let error = Unpacked::new(&root, &program).unwrap().inside(&link).unwrap_err();
        assert!(
            matches!(&error, DebianError::HostLibrary { path, .. } if *path == link),
            "{error:?}"
        );
    }

    #[test]
    fn the_list_of_the_loader_is_understood() {
        let output = "\
\tlinux-vdso.so.1 (0x00007f7ad9096000)
\tlibevent-2.1.so.7 => /a root/usr/lib/libevent-2.1.so.7 (0x00007f7ad8fda000)
\tlibgone.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 => /a root/lib/ld-linux-x86-64.so.2 (0x00007f7ad9098000)
\t/usr/lib/preloaded.so (0x00007f7ad9098000)
";
        let expected = [
            ("libevent-2.1.so.7", Some(Path::new("/a root/usr/lib/libevent-2.1.so.7"))),
            ("libgone.so.1", None),
            ("/lib64/ld-linux-x86-64.so.2", Some(Path::new("/a root/lib/ld-linux-x86-64.so.2"))),
            ("/usr/lib/preloaded.so", Some(Path::new("/usr/lib/preloaded.so"))),
        ];
        assert_eq!(listed(output), expected);
    }
}
