//! The project that most verbs are about: the folder with `kubewright.toml`, and the operator in it.
//!
//! Owns how the folder is found, what of the file the program itself needs, and how the operator is
//! asked: everything about the operator is said by the operator, never known here.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use kubewright::project as described;
use serde::Deserialize;

use crate::registry::Reference;

/// The file that makes a folder a project.
pub(crate) const FILE: &str = "kubewright.toml";

/// A project with an operator in it.
#[derive(Debug)]
pub(crate) struct Project {
    /// The name of the operator, of its package and of its program.
    pub(crate) name: String,
    /// Where its sources are, for its image's label.
    pub(crate) repository: Option<String>,
    image: Option<String>,
    root: PathBuf,
}

/// What is read of the file here; the operator reads the rest.
#[derive(Deserialize)]
struct Content {
    name: String,
    image: Option<String>,
    #[serde(default)]
    bundle: Bundle,
}

#[derive(Default, Deserialize)]
struct Bundle {
    repository: Option<String>,
}

/// What cargo knows of it.
#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
    workspace_root: PathBuf,
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
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
        let Content { name, image, bundle } = content;
        Ok(Self { name, repository: bundle.repository, image, root: root.to_owned() })
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What a file of the project says.
    pub(crate) fn read(&self, name: &str) -> anyhow::Result<String> {
        let path = self.root.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// `cargo` in the project's folder.
    pub(crate) fn cargo(&self) -> Command {
        // Cargo tells what it runs which cargo it is; else it is the one in PATH.
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_a_package(name)) {
            command.env_remove(name);
        }
        command
    }

    /// Becomes the operator with `arguments`; returns only if that cannot be.
    pub(crate) fn become_operator(&self, arguments: &[String]) -> anyhow::Error {
        become_command(self.operator(arguments))
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
        Ok(self.metadata()?.target_directory)
    }

    /// The image that was named, or else the project's: that of `kubewright.toml`, tagged with the version
    /// of the package.
    pub(crate) fn image_or(&self, named: Option<Reference>) -> anyhow::Result<Reference> {
        if let Some(named) = named {
            return Ok(named);
        }
        let packages = self.metadata()?.packages;
        let package = packages.iter().find(|package| package.name == self.name);
        let package = package.with_context(|| {
            let name = &self.name;
            format!(
                "cargo knows no package {name}: `name` in {FILE} must be that of the operator's"
            )
        })?;
        let image = self.image.clone();
        let described = described::Project { image, ..described::Project::named(&self.name) };
        let image = described.image_of(&package.version).parse();
        image.map_err(|reason: String| {
            anyhow::anyhow!("{reason}; correct `image` in {FILE}, or name one")
        })
    }

    /// The same for the image of its bundle, whose name is the project's with `-bundle`.
    pub(crate) fn bundle_image_or(&self, named: Option<Reference>) -> anyhow::Result<Reference> {
        if let Some(named) = named {
            return Ok(named);
        }
        let mut image = self.image_or(None)?;
        image.repository.push_str("-bundle");
        Ok(image)
    }

    /// True if the project itself says how to build with `profile`.
    pub(crate) fn has_profile(&self, profile: &str) -> anyhow::Result<bool> {
        let path = self.metadata()?.workspace_root.join("Cargo.toml");
        let cannot = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(&path).with_context(cannot)?;
        let manifest: toml::Table = toml::from_str(&text).with_context(cannot)?;
        let profiles = manifest.get("profile").and_then(toml::Value::as_table);
        Ok(profiles.is_some_and(|profiles| profiles.contains_key(profile)))
    }

    fn metadata(&self) -> anyhow::Result<Metadata> {
        let mut command = self.cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]).stderr(Stdio::inherit());
        let output = command.output().context("cannot run `cargo`")?;
        anyhow::ensure!(output.status.success(), "`cargo metadata` failed");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn operator(&self, arguments: &[String]) -> Command {
        let mut command = self.cargo();
        command.args(["run", "--quiet", "--package", &self.name, "--"]).args(arguments);
        command
    }
}

/// What cargo tells a program that it runs, as `make` has it run this one: of use to nobody else, and to a
/// cargo it looks as if crates had changed whose build asks for it.
fn is_of_a_package(variable: &OsStr) -> bool {
    let name = variable.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Becomes `command`: signals reach it, and its exit code is this program's. Returns only if that
/// cannot be.
pub(crate) fn become_command(mut command: Command) -> anyhow::Error {
    let program = command.get_program().to_string_lossy().into_owned();
    anyhow::Error::new(command.exec()).context(format!("cannot run `{program}`"))
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
        assert_eq!((project.repository, project.image.as_deref()), (None, Some("a/b")));
    }

    #[test]
    fn without_a_project_the_error_says_what_was_looked_for() {
        let nowhere = tempfile::tempdir().unwrap();
        let error = Project::above(nowhere.path()).unwrap_err().to_string();
        assert!(error.starts_with("no kubewright.toml in "), "{error}");
    }
}
