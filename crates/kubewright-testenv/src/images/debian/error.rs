//! Why a program could not be had from Debian. Only words; decides nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Why a program could not be had from Debian.
#[derive(Debug, thiserror::Error)]
pub enum DebianError {
    /// Not a Debian machine.
    #[error(
        "no {program} here: images are put together from Debian packages, which takes a Debian machine"
    )]
    NotDebian {
        /// The program that is missing.
        program: &'static str,
    },
    /// No apt source of this machine is a Debian archive.
    #[error(
        "no Debian mirror in /etc/apt/sources.list or sources.list.d (a URI that ends in /debian)"
    )]
    NoMirror,
    /// The keys that packages are checked with are not there.
    #[error("no keys of the Debian archive in /usr/share/keyrings: install debian-archive-keyring")]
    NoKeyring,
    /// No suite has this version.
    #[error("no {package} {version} in Debian; there is {}", list(found))]
    NoVersion {
        /// The package.
        package: String,
        /// The upstream version that was asked for.
        version: String,
        /// The versions that there are, each with its suite.
        found: Vec<String>,
    },
    /// No suite's packages hold this program.
    #[error("no {program} in the Debian packages {}", list(packages))]
    NoProgram {
        /// The name of the program.
        program: String,
        /// The packages that should have had it.
        packages: Vec<String>,
    },
    /// A library that the program needs is in none of the packages.
    #[error("{} needs {library}, which is in none of its packages", program.display())]
    NoLibrary {
        /// The unpacked program.
        program: PathBuf,
        /// The name of the library.
        library: String,
    },
    /// A library that the program needs would be taken from this machine.
    #[error("{} would take {} of this machine", program.display(), path.display())]
    HostLibrary {
        /// The unpacked program.
        program: PathBuf,
        /// The file that is not an unpacked one.
        path: PathBuf,
    },
    /// A program could not be run at all.
    #[error("cannot {action}: {program} did not run")]
    Run {
        /// What was attempted.
        action: String,
        /// The program.
        program: String,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// A program said that it failed.
    #[error("cannot {action} ({status}): {stderr}")]
    Failed {
        /// What was attempted.
        action: String,
        /// How the program ended.
        status: ExitStatus,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// A program took too long and was ended.
    #[error("cannot {action}: not done after {} s: {stderr}", limit.as_secs())]
    TimedOut {
        /// What was attempted.
        action: String,
        /// How long it was given.
        limit: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The file system said no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
}

impl DebianError {
    /// For `map_err`: what was attempted, and on which file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
