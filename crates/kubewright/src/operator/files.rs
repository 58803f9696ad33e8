//! Keeps generated files in step with what would be generated: writes what differs, removes what is no
//! longer generated, or only says so.
//!
//! Knows a generated file by its first line, and touches no other.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::generate::files::{File, header};

/// A folder of generated files, and the command that makes them.
pub(super) struct Tree<'a> {
    /// Where the files are.
    pub(super) root: &'a Path,
    /// What their first line names.
    pub(super) command: &'a str,
}

/// Why files could not be kept in step.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

/// A file that is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference<'a> {
    /// It is not there, or is other than it should be.
    Write(&'a File),
    /// It should no longer be there.
    Remove(&'a Path),
}

impl Tree<'_> {
    /// Makes the tree as it should be, and says what was done.
    pub(super) fn write(&self, files: &[File]) -> Result<Vec<String>, Error> {
        let surplus = self.surplus(files)?;
        let mut done = Vec::new();
        for difference in self.differences(files, &surplus)? {
            match difference {
                Difference::Write(file) => {
                    replace(&self.root.join(&file.path), &file.text)?;
                    done.push(format!("wrote {}", self.root.join(&file.path).display()));
                }
                Difference::Remove(path) => {
                    fs::remove_file(path).map_err(|source| failed("remove", path, source))?;
                    done.push(format!("removed {}", path.display()));
                }
            }
        }
        Ok(done)
    }

    /// What is not as it should be.
    pub(super) fn check(&self, files: &[File]) -> Result<Vec<String>, Error> {
        let surplus = self.surplus(files)?;
        let differences = self.differences(files, &surplus)?;
        Ok(differences.into_iter().map(|difference| self.told(difference)).collect())
    }

    fn told(&self, difference: Difference<'_>) -> String {
        match difference {
            Difference::Write(file) => {
                format!(
                    "{} differs from what the code generates",
                    self.root.join(&file.path).display()
                )
            }
            Difference::Remove(path) => format!("{} is no longer generated", path.display()),
        }
    }

    fn differences<'a>(
        &self,
        files: &'a [File],
        surplus: &'a [PathBuf],
    ) -> Result<Vec<Difference<'a>>, Error> {
        let mut differences = Vec::new();
        for file in files {
            let path = self.root.join(&file.path);
            if read(&path)?.as_deref() != Some(file.text.as_bytes()) {
                differences.push(Difference::Write(file));
            }
        }
        differences.extend(surplus.iter().map(|path| Difference::Remove(path)));
        Ok(differences)
    }

    /// Generated files beside the wanted ones that are not among them.
    fn surplus(&self, files: &[File]) -> Result<Vec<PathBuf>, Error> {
        let wanted: BTreeSet<_> = files.iter().map(|file| self.root.join(&file.path)).collect();
        let folders: BTreeSet<_> = wanted.iter().filter_map(|path| path.parent()).collect();
        let mut surplus = Vec::new();
        for folder in folders {
            for path in listed(folder)? {
                if !wanted.contains(&path) && self.is_ours(&path)? {
                    surplus.push(path);
                }
            }
        }
        surplus.sort();
        Ok(surplus)
    }

    /// True if the first line says so.
    fn is_ours(&self, path: &Path) -> Result<bool, Error> {
        let text = read(path)?.unwrap_or_default();
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // In JSON its quotes are escaped.
        let first = String::from_utf8_lossy(first).replace('\\', "");
        Ok(first.contains(&header(self.command)))
    }
}

/// The files in a folder; none if there is no folder.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| failed("read", folder, source);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, error)),
    }
}

/// Writes beside the file and renames: nobody ever reads half of it.
fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| failed("make", folder, source))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, text).map_err(|source| failed("write", path, source))?;
    fs::rename(&beside, path).map_err(|source| failed("write", path, source))
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "a generate all";

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: format!("# {}\n{text}\n", header(COMMAND)) }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = listed(folder).unwrap();
        names.sort();
        names.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn only_what_differs_is_written_and_only_what_was_generated_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let tree = Tree { root: root.path(), command: COMMAND };
        let first = [file("deploy/a.yaml", "1"), file("deploy/b.yaml", "1")];
        assert_eq!(tree.write(&first).unwrap().len(), 2);
        assert!(tree.write(&first).unwrap().is_empty());
        fs::write(root.path().join("deploy/mine.yaml"), "# by hand").unwrap();

        let second = [file("deploy/a.yaml", "2")];
        let said = tree.check(&second).unwrap();
        assert!(
            said[0].ends_with("deploy/a.yaml differs from what the code generates"),
            "{said:?}"
        );
        assert!(said[1].ends_with("deploy/b.yaml is no longer generated"), "{said:?}");
        assert_eq!(names(&root.path().join("deploy")), ["a.yaml", "b.yaml", "mine.yaml"]);

        tree.write(&second).unwrap();
        assert!(tree.check(&second).unwrap().is_empty());
        assert_eq!(names(&root.path().join("deploy")), ["a.yaml", "mine.yaml"]);
        assert!(fs::read_to_string(root.path().join("deploy/a.yaml")).unwrap().ends_with("2\n"));
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("deploy"), "a file").unwrap();
        let tree = Tree { root: root.path(), command: COMMAND };
        let error = tree.write(&[file("deploy/a.yaml", "1")]).unwrap_err();
        assert!(error.to_string().contains("deploy"), "{error}");
    }
}
