//! Finds the programs that make up a Kubernetes: `KUBEBUILDER_ASSETS`, the cache, the official
//! release, a build from source, in that order and each program by itself.
//!
//! Owns the order and the wording of what is missing. How a program is downloaded or built is in the
//! submodules; nothing here starts one.

mod download;
mod golang;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::cache::{Cache, CacheError, Entry};
use crate::chain;
use crate::progress::Progress;
use crate::version::KubernetesVersion;

pub(crate) use golang::source;
pub use golang::{
    COREDNS_VERSION, HELM_VERSION, METRICS_SERVER_VERSION, OLM_VERSION, OPERATOR_VERIFY_VERSION,
    OPM_VERSION, REGISTRY_VERSION, SourceError, last_lines,
};

/// A program of a Kubernetes cluster, or one that clusters need beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// The built-in controllers.
    KubeControllerManager,
    /// The scheduler.
    KubeScheduler,
    /// The command line client.
    Kubectl,
    /// The node agent.
    Kubelet,
    /// Services on a node.
    KubeProxy,
    /// Cluster DNS.
    CoreDns,
    /// A registry of images; no part of a cluster.
    Registry,
    /// The Operator Framework's own check of a bundle; no part of a cluster.
    OperatorVerify,
    /// What pods use, for autoscalers and `kubectl top`; no part of a cluster by itself.
    MetricsServer,
    /// The package manager; no part of a cluster.
    Helm,
    /// The Operator Lifecycle Manager: installs releases.
    Olm,
    /// The same: finds releases in catalogues.
    OlmCatalog,
    /// The same: tells what catalogues have.
    PackageServer,
    /// The same: copies a bundle out of its image.
    Cpb,
    /// Serves catalogues.
    Opm,
    /// Asks a server of gRPC how it is.
    GrpcHealthProbe,
}

impl Binary {
    /// What a control plane needs at the least.
    pub const CONTROL_PLANE: [Self; 3] = [Self::Etcd, Self::KubeApiserver, Self::Kubectl];
    /// What controllers need on top of it.
    pub const CONTROLLERS: [Self; 2] = [Self::KubeControllerManager, Self::KubeScheduler];
    /// What a node needs on top of both.
    pub const NODE: [Self; 3] = [Self::Kubelet, Self::KubeProxy, Self::CoreDns];

    /// All that a cluster is made of.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::CONTROL_PLANE.into_iter().chain(Self::CONTROLLERS).chain(Self::NODE)
    }

    /// The name of the file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
            Self::CoreDns => "coredns",
            Self::Registry => "registry",
            Self::OperatorVerify => "operator-verify",
            Self::MetricsServer => "metrics-server",
            Self::Helm => "helm",
            Self::Olm => "olm",
            Self::OlmCatalog => "catalog",
            Self::PackageServer => "package-server",
            Self::Cpb => "cpb",
            Self::Opm => "opm",
            Self::GrpcHealthProbe => "grpc_health_probe",
        }
    }
}

/// Why a program could not be had.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// None of the four ways led to it.
    #[error(
        "{} for Kubernetes {version} is not in KUBEBUILDER_ASSETS and not in the cache; \
         download: {download}; build from source: {build}. \
         Connect this machine to dl.k8s.io or to a Go module proxy (with Go installed), \
         or put the file into a directory that KUBEBUILDER_ASSETS names",
        binary.file_name()
    )]
    NotToBeHad {
        /// Which program.
        binary: Binary,
        /// Of which version.
        version: KubernetesVersion,
        /// Why it could not be downloaded.
        download: String,
        /// Why it could not be built.
        build: String,
    },
    /// There is no such program for this kind of machine.
    #[error("Kubernetes has no programs for {0}: use Linux on x86-64 or 64-bit ARM")]
    Platform(String),
    /// The cache failed, for instance because the disk is full.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// The programs of one version of Kubernetes, on this machine.
#[derive(Clone, Debug)]
pub struct Binaries {
    cache: Cache,
    version: KubernetesVersion,
    platform: Platform,
    progress: Progress,
}

impl Binaries {
    /// The programs of `version`, kept in `cache`.
    pub fn new(
        cache: Cache,
        version: KubernetesVersion,
        progress: Progress,
    ) -> Result<Self, BinaryError> {
        Ok(Self { cache, version, platform: Platform::current()?, progress })
    }

    /// Where `binary` is, after getting it in the first way that works.
    ///
    /// Blocks for as long as a build takes: call it from a blocking task.
    pub fn find(&self, binary: Binary) -> Result<PathBuf, BinaryError> {
        if let Some(path) = from_assets(binary) {
            return Ok(path);
        }
        let path =
            self.entry(binary).ensure(self.progress, |partial| self.make(binary, partial))??;
        if !is_executable(&path) {
            // A copied cache may have lost it. If it cannot be given back, the start says what is wrong.
            let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o755));
        }
        Ok(path)
    }

    /// True if `binary` is there already, so that [`Self::find`] takes no time.
    pub fn is_present(&self, binary: Binary) -> bool {
        from_assets(binary).is_some() || self.entry(binary).is_intact()
    }

    /// Removes from the cache whatever is damaged, checked byte for byte, and says what that was.
    pub fn remove_damaged(&self) -> Result<Vec<&'static str>, BinaryError> {
        let mut removed = Vec::new();
        for binary in Binary::all() {
            let entry = self.entry(binary);
            if entry.path().exists() && !entry.is_intact_to_the_byte() {
                entry.remove()?;
                removed.push(binary.file_name());
            }
        }
        Ok(removed)
    }

    /// Where they are kept.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The version that these programs are of.
    pub fn version(&self) -> KubernetesVersion {
        self.version
    }

    fn make(&self, binary: Binary, partial: &Path) -> Result<(), BinaryError> {
        let name = binary.file_name();
        let download = match download::Source::of(binary, self.version, self.platform) {
            None => "it is released as source only".to_owned(),
            Some(source) => match source.fetch(partial, self.progress) {
                Ok(()) => return Ok(()),
                Err(error) => chain(&error),
            },
        };
        let is_of_kubernetes = Binary::all().any(|one| one == binary) && binary != Binary::CoreDns;
        let of = if is_of_kubernetes {
            format!(" of Kubernetes {}", self.version)
        } else {
            String::new()
        };
        let step = format!("{name}{of}: building from source");
        let built = self.progress.step(&step, || golang::build(binary, self.version, partial));
        built.map_err(|error| {
            let (version, build) = (self.version, chain(&error));
            BinaryError::NotToBeHad { binary, version, download, build }
        })
    }

    fn entry(&self, binary: Binary) -> Entry {
        let Platform { os, architecture } = self.platform;
        let name = binary.file_name();
        self.cache.entry(&match binary {
            Binary::CoreDns => format!("coredns/v{COREDNS_VERSION}/{os}-{architecture}/{name}"),
            Binary::Registry => format!("registry/v{REGISTRY_VERSION}/{os}-{architecture}/{name}"),
            Binary::OperatorVerify => {
                format!("tools/{name}/v{OPERATOR_VERIFY_VERSION}/{os}-{architecture}/{name}")
            }
            Binary::Helm => format!("tools/{name}/v{HELM_VERSION}/{os}-{architecture}/{name}"),
            Binary::Olm | Binary::OlmCatalog | Binary::PackageServer | Binary::Cpb => {
                format!("olm/v{OLM_VERSION}/{os}-{architecture}/{name}")
            }
            Binary::Opm | Binary::GrpcHealthProbe => {
                format!("opm/v{OPM_VERSION}/{os}-{architecture}/{name}")
            }
            Binary::MetricsServer => {
                format!("{name}/v{METRICS_SERVER_VERSION}/{os}-{architecture}/{name}")
            }
            _ => format!("kubernetes/v{}/{os}-{architecture}/{name}", self.version),
        })
    }
}

fn from_assets(binary: Binary) -> Option<PathBuf> {
    let directory = std::env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty())?;
    let path = std::path::absolute(Path::new(&directory).join(binary.file_name())).ok()?;
    is_executable(&path).then_some(path)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Operating system and processor, as Go and the release archives spell them.
#[derive(Clone, Copy, Debug)]
struct Platform {
    os: &'static str,
    architecture: &'static str,
}

impl Platform {
    fn current() -> Result<Self, BinaryError> {
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => Ok(Self { os: "linux", architecture: "amd64" }),
            ("linux", "aarch64") => Ok(Self { os: "linux", architecture: "arm64" }),
            (os, architecture) => Err(BinaryError::Platform(format!("{os} on {architecture}"))),
        }
    }
}
