//! The project that most verbs are about: the folder with `kubewright.toml`, and the operator in it.
//!
//! Owns how the folder is found, what of the file the program itself needs, and how the operator is
//! asked: everything about the operator is said by the operator, never known here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde::Deserialize;

const FILE: &str = "kubewright.toml";

/// A project with an operator in it.
#[derive(Debug)]
pub(crate) struct Project {
    /// The name of the operator, of its package and of its program.
    pub(crate) name: String,
    /// Where its sources are, for its image's label.
    pub(crate) repository: Option<String>,
    root: PathBuf,
}

/// What is read of the file here; the operator reads the rest.
#[derive(Deserialize)]
struct Content {
    name: String,
    #[serde(default)]
    bundle: Bundle,
}

#[derive(Default, Deserialize)]
struct Bundle {
    repository: Option<String>,
}

impl Project {
    /// The project of the current folder, or of one above it.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        Self::above(&here)
    }

    fn above(folder: &Path) -> anyhow::Result<Self> {
        let root = folder.ancestors().find(|folder| folder.join(FILE).is_file());
        let root = root.with_context(|| {
            format!("no {FILE} in {} nor above it: go to the folder of a project", folder.display())
        })?;
        let path = root.join(FILE);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let content: Content =
            toml::from_str(&text).with_context(|| format!("cannot use {}", path.display()))?;
        let Content { name, bundle } = content;
        Ok(Self { name, repository: bundle.repository, root: root.to_owned() })
    }

    /// `cargo` in the project's folder.
    pub(crate) fn cargo(&self) -> Command {
        // Cargo tells what it runs which cargo it is; else it is the one in PATH.
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// Runs the operator with `arguments`, on this terminal, to its end.
    pub(crate) fn run(&self, arguments: &[String]) -> anyhow::Result<()> {
        let status = self.operator(arguments).status().context("cannot run `cargo`")?;
        anyhow::ensure!(status.success(), "`{} {}` failed", self.name, arguments.join(" "));
        Ok(())
    }

    /// What the operator prints when it is run with `arguments`.
    pub(crate) fn ask(&self, arguments: &[String]) -> anyhow::Result<String> {
        let mut command = self.operator(arguments);
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().context("cannot run `cargo`")?;
        let line = || format!("`{} {}`", self.name, arguments.join(" "));
        anyhow::ensure!(output.status.success(), "{} failed", line());
        String::from_utf8(output.stdout).with_context(|| format!("{} is no text", line()))
    }

    /// Cargo's folder for what it builds.
    pub(crate) fn target(&self) -> anyhow::Result<PathBuf> {
        #[derive(Deserialize)]
        struct Metadata {
            target_directory: PathBuf,
        }
        let mut command = self.cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]).stderr(Stdio::inherit());
        let output = command.output().context("cannot run `cargo`")?;
        anyhow::ensure!(output.status.success(), "`cargo metadata` failed");
        let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
        Ok(metadata.target_directory)
    }

    fn operator(&self, arguments: &[String]) -> Command {
        let mut command = self.cargo();
        command.args(["run", "--quiet", "--package", &self.name, "--"]).args(arguments);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_found_from_a_folder_inside_it() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("crates/one");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(root.path().join(FILE), "name = \"one-operator\"\nimage = \"a/b\"\n")
            .unwrap();
        let project = Project::above(&inside).unwrap();
        assert_eq!((project.name.as_str(), project.root.as_path()), ("one-operator", root.path()));
        assert_eq!(project.repository, None);
    }

    #[test]
    fn without_a_project_the_error_says_what_was_looked_for() {
        let nowhere = tempfile::tempdir().unwrap();
        let error = Project::above(nowhere.path()).unwrap_err().to_string();
        assert!(error.starts_with("no kubewright.toml in "), "{error}");
    }
}
