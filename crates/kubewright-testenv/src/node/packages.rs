//! The programs that a node needs from the system, and how Debian's packages provide them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::preflight::{Missing, find_program, search_path};
use crate::progress::Progress;

/// (program, Debian package)
const PROGRAMS: [(&str, &str); 11] = [
    ("containerd", "containerd"),
    ("ctr", "containerd"),
    ("runc", "runc"),
    ("nft", "nftables"),
    ("ip", "iproute2"),
    ("tini", "tini"),
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("mount", "mount"),
    ("hostname", "hostname"),
    ("sysctl", "procps"),
];
const CNI_PACKAGE: &str = "containernetworking-plugins";
/// Where distributions put the CNI plugins.
const CNI_DIRECTORIES: [&str; 3] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

/// The directory of the CNI plugins.
pub(super) fn cni_directory() -> Option<PathBuf> {
    CNI_DIRECTORIES
        .map(PathBuf::from)
        .into_iter()
        .find(|directory| directory.join("host-local").is_file())
}

fn absent() -> Vec<&'static str> {
    let mut packages: Vec<_> = PROGRAMS
        .iter()
        .filter(|(program, _)| find_program(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    if cni_directory().is_none() {
        packages.push(CNI_PACKAGE);
    }
    packages.dedup();
    packages
}

/// What is missing and cannot be installed from here.
pub(crate) fn missing_for_good() -> Option<Missing> {
    let absent = absent();
    if absent.is_empty() || find_program("apt-get").is_some() {
        return None;
    }
    Some(Missing {
        what: format!("no {}", absent.join(", ")),
        why: "a node is made of them, and without apt-get they cannot be installed from here",
        remedy: "install them (the names are Debian's)".to_owned(),
    })
}

/// Installs what is missing. Blocks until that is done.
pub(crate) fn install(progress: Progress) -> Result<(), Error> {
    let absent = absent();
    if absent.is_empty() {
        return Ok(());
    }
    progress.step(&format!("installing the packages {}", absent.join(", ")), || {
        // Package lists that are there are tried first: they are mostly good enough, and quicker.
        apt_get(&["install", "-y", "--no-install-recommends"], &absent).or_else(|_| {
            apt_get(&["update"], &[])?;
            apt_get(&["install", "-y", "--no-install-recommends"], &absent)
        })
    })
}

fn apt_get(arguments: &[&str], packages: &[&str]) -> Result<(), Error> {
    let options = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=20", "-qq"];
    let mut command = Command::new("apt-get");
    command.args(options).args(arguments).args(packages);
    let line = format!("{command:?}").replace('"', "");
    let failed = |output| Error::Command { command: line, output };
    let output = command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("PATH", search_path())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}
