//! Programs out of Debian packages, at an exact version and with the libraries they need, without
//! installing anything.
//!
//! Owns which suites are searched and what counts as the same version. Never gives one version for
//! another, nor a library of this machine in place of the package's.

mod apt;
mod command;
mod error;
mod libraries;
mod mirror;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tempfile::TempDir;

use apt::Suite;
pub use error::DebianError;
use libraries::Unpacked;

/// Where packages are looked for, in this order: what changes least comes first.
const SUITES: [&str; 4] = ["bookworm", "trixie", "forky", "sid"];

/// The programs that all this is done with.
const PROGRAMS: [&str; 3] = ["apt-get", "apt-cache", "dpkg-deb"];

/// The keys of the Debian archive; later releases of the keyring package have the second name.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// The Debian archive as this machine reaches it.
#[derive(Debug)]
pub(crate) struct Debian {
    mirror: String,
    keyring: &'static Path,
}

impl Debian {
    /// An error if this is not a Debian machine.
    pub(crate) fn of_this_machine() -> Result<Self, DebianError> {
        if let Some(program) = missing_program() {
            return Err(DebianError::NotDebian { program });
        }
        let keyring = KEYRINGS.map(Path::new).into_iter().find(|path| path.exists());
        Ok(Self {
            mirror: mirror::of_this_machine().ok_or(DebianError::NoMirror)?,
            keyring: keyring.ok_or(DebianError::NoKeyring)?,
        })
    }

    /// A package at an upstream version with the library packages it depends on, and with other
    /// packages of the same suite, without theirs.
    pub(crate) fn package(
        &self,
        package: &str,
        upstream: &str,
        others: &[&str],
    ) -> Result<Root, DebianError> {
        let mut found = Vec::new();
        let root = self.first(|suite| {
            for version in suite.versions(package)? {
                if upstream_of(&version) == upstream {
                    let mut packages = vec![format!("{package}={version}")];
                    packages.extend(suite.libraries_of(package)?);
                    packages.extend(others.iter().map(|&name| name.to_owned()));
                    return Root::unpacked(&suite, &packages).map(Some);
                }
                found.push(format!("{version} in {}", suite.name));
            }
            Ok(None)
        })?;
        root.ok_or_else(|| DebianError::NoVersion {
            package: package.to_owned(),
            version: upstream.to_owned(),
            found,
        })
    }

    /// Packages, without what they depend on, of the first suite where they hold `program`.
    pub(crate) fn with_program(
        &self,
        packages: &[&str],
        program: &str,
    ) -> Result<Root, DebianError> {
        let packages: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
        let root = self.first(|suite| {
            let root = Root::unpacked(&suite, &packages)?;
            Ok(root.program(program).is_ok().then_some(root))
        })?;
        root.ok_or_else(|| DebianError::NoProgram { program: program.to_owned(), packages })
    }

    fn first<T>(
        &self,
        mut wanted: impl FnMut(Suite) -> Result<Option<T>, DebianError>,
    ) -> Result<Option<T>, DebianError> {
        for name in SUITES {
            let Some(suite) = Suite::fetch(name, &self.mirror, self.keyring)? else {
                continue;
            };
            if let Some(found) = wanted(suite)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// A directory with unpacked packages. Goes away with the value.
#[derive(Debug)]
pub(crate) struct Root {
    _directory: TempDir,
    /// Canonical, since it is compared with what links resolve to.
    path: PathBuf,
}

impl Root {
    fn unpacked(suite: &Suite, packages: &[String]) -> Result<Self, DebianError> {
        let directory = tempfile::Builder::new().prefix("kubewright-root-").tempdir();
        let directory =
            directory.map_err(DebianError::io("create a directory in", &env::temp_dir()))?;
        let path = fs::canonicalize(directory.path());
        let path = path.map_err(DebianError::io("read", directory.path()))?;
        suite.unpack(packages, &path)?;
        Ok(Self { _directory: directory, path })
    }

    /// The program of this name, a file that is really in this directory.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, DebianError> {
        let places = ["usr/bin", "bin"].map(|directory| self.path.join(directory).join(name));
        let found = places.into_iter().find_map(|path| fs::canonicalize(path).ok());
        found.filter(|path| path.starts_with(&self.path)).ok_or_else(|| DebianError::NoProgram {
            program: name.to_owned(),
            packages: vec![self.path.display().to_string()],
        })
    }

    /// The loader and the libraries that a program needs: the path in an image, and the file.
    pub(crate) fn libraries(
        &self,
        program: &Path,
    ) -> Result<BTreeMap<PathBuf, PathBuf>, DebianError> {
        Unpacked::new(&self.path, program)?.libraries()
    }

    /// What a program prints when it is run with the libraries in this directory.
    pub(crate) fn output(&self, program: &Path, arguments: &[&str]) -> Result<String, DebianError> {
        Unpacked::new(&self.path, program)?.output(arguments)
    }
}

/// The first of the needed programs that this machine does not have.
fn missing_program() -> Option<&'static str> {
    missing_in(&env::var_os("PATH").unwrap_or_default())
}

fn missing_in(search: &OsStr) -> Option<&'static str> {
    let is_there = |name: &str| env::split_paths(search).any(|it| it.join(name).is_file());
    PROGRAMS.into_iter().find(|name| !is_there(name))
}

/// `1.6.45` of `1:1.6.45-1+deb13u2`: without Debian's epoch and revision.
fn upstream_of(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_epoch, rest)| rest);
    version.rsplit_once('-').map_or(version, |(upstream, _revision)| upstream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upstream_version_has_neither_epoch_nor_revision() {
        assert_eq!(upstream_of("1.6.45-1"), "1.6.45");
        assert_eq!(upstream_of("1:1.6.18-1+deb12u1"), "1.6.18");
        assert_eq!(upstream_of("2.0-beta-3"), "2.0-beta");
        assert_eq!(upstream_of("1.6.4"), "1.6.4");
    }

    #[test]
    fn a_version_that_is_nowhere_is_reported_with_those_that_are() {
        let error = DebianError::NoVersion {
            package: "memcached".into(),
            version: "1.6.99".into(),
            found: vec!["1.6.18-1 in bookworm".into(), "1.6.38-1 in trixie".into()],
        };
        let expected =
            "no memcached 1.6.99 in Debian; there is 1.6.18-1 in bookworm, 1.6.38-1 in trixie";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_machine_without_apt_is_told_which_program_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(missing_in(directory.path().as_os_str()), Some("apt-get"));
        for program in ["apt-get", "apt-cache"] {
            fs::write(directory.path().join(program), "").unwrap();
        }
        assert_eq!(missing_in(directory.path().as_os_str()), Some("dpkg-deb"));
        fs::write(directory.path().join("dpkg-deb"), "").unwrap();
        assert_eq!(missing_in(directory.path().as_os_str()), None);
    }
}
