//! What this machine cannot do, found before anything starts: one sentence each on what is missing,
//! why it is needed and what to do. Looks, changes nothing.

use std::ffi::OsString;
use std::fmt;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::binaries::{Binaries, Binary};
use crate::images::Images;
use crate::node::packages;
use crate::progress::Progress;

/// A kind of environment, by what it asks of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// etcd and kube-apiserver, with or without controllers: needs no special rights.
    ControlPlane,
    /// Nodes with real pods: needs root.
    Node,
}

impl Tier {
    /// All tiers, from the least demanding.
    pub const ALL: [Self; 2] = [Self::ControlPlane, Self::Node];
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ControlPlane => "control plane",
            Self::Node => "nodes and pods",
        })
    }
}

/// Something that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why it is needed.
    pub why: &'static str,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.what, self.why, self.remedy)
    }
}

const NOT_ROOT: &str = "not root";

/// Space for the data of one environment, and for building all programs of one version.
const ENVIRONMENT_SPACE: u64 = 512 << 20;
const BUILD_SPACE: u64 = 4 << 30;

/// Everything that keeps this machine from running `tier` with its data at `data`; empty if nothing
/// does.
pub fn missing(tier: Tier, binaries: &Binaries, data: &Path) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut wanted = [&Binary::CONTROL_PLANE[..], &Binary::CONTROLLERS].concat();
    missing.extend(util_linux());
    missing.extend(space(data, ENVIRONMENT_SPACE, "an environment writes its data there"));
    if tier == Tier::Node {
        wanted.extend(Binary::NODE);
        missing.extend(root());
        if missing.iter().all(|one| one.what != NOT_ROOT) {
            missing.extend(cgroups()); // which only root could write to
        }
        missing.extend(packages::missing_for_good());
        missing.extend(images(binaries));
    }
    let absent: Vec<_> =
        wanted.into_iter().filter(|binary| !binaries.is_present(*binary)).collect();
    if !absent.is_empty() {
        missing.extend(source_of_binaries(&absent));
        missing.extend(writable(binaries.cache().root()));
        missing.extend(space(
            binaries.cache().root(),
            BUILD_SPACE,
            "the programs of Kubernetes have to be got and kept there",
        ));
    }
    missing
}

fn util_linux() -> Option<Missing> {
    let absent = ["setsid", "setpriv"].into_iter().find(|name| find_program(name).is_none())?;
    Some(Missing {
        what: format!("no `{absent}`"),
        why: "processes are started with it",
        remedy: "install util-linux".to_owned(),
    })
}

fn root() -> Option<Missing> {
    (!rustix::process::geteuid().is_root()).then(|| Missing {
        what: NOT_ROOT.to_owned(),
        why: "a node makes namespaces, network interfaces and cgroups",
        remedy: "run it as root, or do without nodes: the control plane alone works as any user"
            .to_owned(),
    })
}

fn cgroups() -> Option<Missing> {
    let (version_one, version_two) = ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/cgroup.controllers");
    let present = [version_one, version_two].into_iter().any(|path| Path::new(path).exists());
    let writable = rustix::fs::access("/sys/fs/cgroup", rustix::fs::Access::WRITE_OK).is_ok();
    (!present || !writable).then(|| Missing {
        what: "no writable cgroups under /sys/fs/cgroup".to_owned(),
        why: "a node runs every pod in a cgroup",
        remedy: "run on a machine (or in a privileged container) with cgroups mounted".to_owned(),
    })
}

fn images(binaries: &Binaries) -> Option<Missing> {
    let images = Images::new(binaries.cache().clone(), Progress::Silent);
    images.obstacle().map(|what| Missing {
        what,
        why: "the images that pods start from are made of Debian's packages",
        remedy: "run on Debian, or bring a cache that has them (KUBEWRIGHT_CACHE)".to_owned(),
    })
}

fn source_of_binaries(absent: &[Binary]) -> Option<Missing> {
    if find_program("go").is_some() || release_host_answers() {
        return None;
    }
    let names: Vec<_> = absent.iter().map(|binary| binary.file_name()).collect();
    Some(Missing {
        what: format!("no {}", names.join(", ")),
        why: "these programs are Kubernetes, are not in KUBEBUILDER_ASSETS or the cache, \
              dl.k8s.io cannot be reached and Go is not installed to build them",
        remedy: "connect to the network, or install Go 1.26 or newer, or set KUBEBUILDER_ASSETS"
            .to_owned(),
    })
}

fn release_host_answers() -> bool {
    if ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        return true; // then only a real request could tell
    }
    let addresses = "dl.k8s.io:443".to_socket_addrs();
    let limit = Duration::from_secs(3);
    addresses.is_ok_and(|mut all| {
        all.any(|one| std::net::TcpStream::connect_timeout(&one, limit).is_ok())
    })
}

fn writable(cache: &Path) -> Option<Missing> {
    let existing = cache.ancestors().find(|path| path.exists())?;
    rustix::fs::access(existing, rustix::fs::Access::WRITE_OK).is_err().then(|| Missing {
        what: format!("{} cannot be written", existing.display()),
        why: "programs that are not there yet have to be kept there",
        remedy: "point KUBEWRIGHT_CACHE at a directory of your own".to_owned(),
    })
}

fn space(directory: &Path, wanted: u64, why: &'static str) -> Option<Missing> {
    let existing = directory.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statvfs(existing).ok()?;
    let free = system.f_bavail * system.f_frsize;
    (free < wanted).then(|| Missing {
        what: format!(
            "only {} MB free at {}, {} MB wanted",
            free >> 20,
            existing.display(),
            wanted >> 20
        ),
        why,
        remedy: "free some space, or use another disk (TMPDIR, KUBEWRIGHT_STATE, KUBEWRIGHT_CACHE)"
            .to_owned(),
    })
}

/// Where programs are looked for: PATH, and the administrator's directories, which not every PATH has.
pub(crate) fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path);
    let extra = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::join_paths(directories.chain(extra)).unwrap_or(path)
}

pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&search_path())
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
}
