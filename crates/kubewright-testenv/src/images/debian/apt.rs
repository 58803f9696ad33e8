//! apt for one Debian suite in directories of its own: what versions there are, what a package
//! depends on, and its download.
//!
//! Must not touch or believe the machine's apt state: lists, caches, pins, hooks and what is
//! installed are all replaced. Only the settings that say how to reach a mirror (proxy, credentials)
//! are the machine's. Installs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::DebianError;
use super::command::run;
use crate::images::archive::architecture;

/// For what goes over the network; apt gives up on a dead mirror well before (see `Acquire::` below).
const NETWORK_LIMIT: Duration = Duration::from_mins(5);

/// For what only reads the fetched lists.
const LOCAL_LIMIT: Duration = Duration::from_mins(1);

/// One suite's package lists, fetched.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: &'static str,
    directory: TempDir,
}

impl Suite {
    /// Fetches the package lists of a suite; none if the mirror does not have the suite.
    pub(super) fn fetch(
        name: &'static str,
        mirror: &str,
        keyring: &Path,
    ) -> Result<Option<Self>, DebianError> {
        let suite = Self { name, directory: private_directory()? };
        let (architecture, keyring) = (architecture(), keyring.display());
        suite.write(
            "sources.list",
            &format!("deb [arch={architecture} signed-by={keyring}] {mirror} {name} main\n"),
        )?;
        suite.write("apt.conf", &configuration(suite.directory.path()))?;
        let action = format!("fetch the package list of {name} from {mirror}");
        match run(&action, suite.apt("apt-get").arg("update"), NETWORK_LIMIT) {
            Ok(_) => Ok(Some(suite)),
            Err(DebianError::Failed { stderr, .. }) if is_missing_suite(&stderr) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The Debian versions of a package in the suite, such as `1.6.45-1`.
    pub(super) fn versions(&self, package: &str) -> Result<Vec<String>, DebianError> {
        let action = format!("look up {package} in {}", self.name);
        let mut command = self.apt("apt-cache");
        let output = run(&action, command.args(["madison", package]), LOCAL_LIMIT)?;
        Ok(output.lines().filter_map(|line| Some(line.split('|').nth(1)?.trim().into())).collect())
    }

    /// The library packages that a package depends on, also through one another.
    pub(super) fn libraries_of(&self, package: &str) -> Result<BTreeSet<String>, DebianError> {
        let action = format!("look up what {package} of {} depends on", self.name);
        let mut command = self.apt("apt-cache");
        command.args(["depends", "--important", "--recurse", package]);
        Ok(library_closure(package, &run(&action, &mut command, LOCAL_LIMIT)?))
    }

    /// Downloads packages (`name` or `name=version`) and unpacks them over one another into `root`.
    pub(super) fn unpack(&self, packages: &[String], root: &Path) -> Result<(), DebianError> {
        let directory = self.directory.path().join("packages");
        create(&directory)?;
        let action = format!("download {} of {}", packages.join(" "), self.name);
        let mut command = self.apt("apt-get");
        command.current_dir(&directory).arg("download").args(packages);
        run(&action, &mut command, NETWORK_LIMIT)?;
        for file in listing(&directory)? {
            let action = format!("unpack {}", file.display());
            let mut command = Command::new("dpkg-deb");
            run(&action, command.arg("--extract").arg(&file).arg(root), LOCAL_LIMIT)?;
        }
        fs::remove_dir_all(&directory).map_err(DebianError::io("remove", &directory))
    }

    fn apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("--quiet=2").arg("--config-file").arg(self.directory.path().join("apt.conf"));
        command
    }

    fn write(&self, name: &str, content: &str) -> Result<(), DebianError> {
        let path = self.directory.path().join(name);
        fs::write(&path, content).map_err(DebianError::io("write", &path))
    }
}

fn private_directory() -> Result<TempDir, DebianError> {
    let temporary = std::env::temp_dir();
    let directory = tempfile::Builder::new().prefix("kubewright-apt-").tempdir();
    let directory = directory.map_err(DebianError::io("create a directory in", &temporary))?;
    // apt makes neither of the two `partial` itself.
    for name in ["lists/partial", "cache/archives/partial", "state", "empty"] {
        create(&directory.path().join(name))?;
    }
    let status = directory.path().join("status");
    fs::write(&status, "").map_err(DebianError::io("write", &status))?;
    Ok(directory)
}

fn create(directory: &Path) -> Result<(), DebianError> {
    fs::create_dir_all(directory).map_err(DebianError::io("create", directory))
}

fn listing(directory: &Path) -> Result<Vec<PathBuf>, DebianError> {
    let failed = DebianError::io("read", directory);
    let entries: Result<Vec<_>, _> = fs::read_dir(directory).and_then(Iterator::collect);
    let mut files: Vec<_> = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    files.sort();
    Ok(files)
}

/// Read by apt after the machine's own configuration, so that it can take things back:
/// - the hooks there clean the machine's caches and wake its desktop programs;
/// - the foreign architectures and extra indexes there would only be more to fetch;
/// - a default release or a trust in unsigned packages there is about other packages;
/// - as root, apt drops to a user that cannot read a private directory. Not root, it ignores this;
/// - without the error mode, a list that could not be fetched would look like an empty one.
fn configuration(directory: &Path) -> String {
    let (directory, architecture) = (directory.display(), architecture());
    format!(
        r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-hidpi;
#clear Acquire::IndexTargets::deb::CNF;
#clear Acquire::IndexTargets::deb::Contents-deb;
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Default-Release "";
APT::Get::AllowUnauthenticated "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::Retries "2";
Dir::State "{directory}/state/";
Dir::State::lists "{directory}/lists/";
Dir::State::status "{directory}/status";
Dir::Cache "{directory}/cache/";
Dir::Cache::archives "archives/";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Log "{directory}/";
Dir::Etc::sourcelist "{directory}/sources.list";
Dir::Etc::sourceparts "{directory}/empty/";
Dir::Etc::preferences "{directory}/empty/preferences";
Dir::Etc::preferencesparts "{directory}/empty/";
"#
    )
}

fn is_missing_suite(stderr: &str) -> bool {
    stderr.contains("does not have a Release file")
}

/// The library packages reachable from `package` through library packages, out of what `apt-cache
/// depends --recurse` printed. What is only reachable through a program (`perl` and its `libperl`)
/// is for that program.
fn library_closure(package: &str, printed: &str) -> BTreeSet<String> {
    let mut graph: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in printed.lines() {
        if line.starts_with([' ', '|']) {
            // `  Depends: NAME`, ` |Depends: NAME` or, below a virtual one, `    NAME`.
            let name = line.rsplit(' ').next().unwrap_or_default();
            graph.entry(current).or_default().push(name);
        } else {
            current = line;
        }
    }
    let mut found = BTreeSet::new();
    let mut next = vec![package];
    while let Some(name) = next.pop() {
        for dependency in
            graph.get(name).into_iter().flatten().copied().filter(|name| is_library(name))
        {
            if found.insert(dependency.to_owned()) {
                next.push(dependency);
            }
        }
    }
    found
}

fn is_library(package: &str) -> bool {
    package.starts_with("lib") || package.starts_with("zlib1g")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
memcached
  Depends: adduser
  Depends: perl
  Depends: <perl:any>
    perl
  Depends: libc6
 |Depends: libsasl2-2
  Depends: <libssl3>
    libssl3t64
perl
  Depends: libperl5.42
libperl5.42
  Depends: libgdbm6t64
libc6
  Depends: libgcc-s1
libgcc-s1
  Depends: gcc-16-base
  Depends: libc6
libssl3t64
  Depends: libc6
  Depends: zlib1g
  Depends: openssl-provider-legacy
";

    #[test]
    fn only_libraries_reached_through_libraries_are_taken() {
        let closure = library_closure("memcached", PRINTED);
        let expected = ["libc6", "libgcc-s1", "libsasl2-2", "libssl3t64", "zlib1g"];
        assert!(closure.iter().eq(expected.iter()), "{closure:?}");
    }

    #[test]
    fn everything_apt_writes_is_in_its_private_directory() {
        let text = configuration(Path::new("/private"));
        for line in text.lines().filter(|line| line.starts_with("Dir::")) {
            let value = line.split('"').nth(1).unwrap();
            assert!(value.starts_with("/private/") || !value.starts_with('/'), "{line}");
        }
    }
}
