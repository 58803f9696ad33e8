//! What an environment shall be like, and its start: everything slow first and in parallel.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::try_join_all;

use crate::binaries::{Binaries, Binary, COREDNS_VERSION};
use crate::cache::Cache;
use crate::control_plane::{ControlPlane, Plan};
use crate::environment::Environment;
use crate::error::Error;
use crate::images::{Images, MEMCACHED_VERSIONS};
use crate::keeper::{Keeper, claim_directory};
use crate::network::{Addresses, Network};
use crate::node::{Node, NodePlan, packages};
use crate::preflight::{Tier, missing};
use crate::progress::Progress;
use crate::version::KubernetesVersion;
use crate::workspace::Workspace;

/// Addresses for Services when there is no node to serve them: loopback, so that a packet for one
/// cannot leave the machine.
const SERVICES_WITHOUT_NODES: (&str, Ipv4Addr) = ("127.96.0.0/16", Ipv4Addr::new(127, 96, 0, 1));

/// Admission beside what is on by default.
const USUAL: &str = "NodeRestriction";
/// And what some clusters have besides: who sets an owner whose deletion then waits needs a permission on
/// that owner.
const STRICT: &str = "NodeRestriction,OwnerReferencesPermissionEnforcement";

/// Describes an environment.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Debug)]
pub struct Builder {
    version: Option<KubernetesVersion>,
    controllers: bool,
    durable: bool,
    strict: bool,
    audited: bool,
    nodes: u8,
    images: Vec<PathBuf>,
    progress: Progress,
    directory: Option<PathBuf>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            version: None,
            controllers: false,
            durable: false,
            strict: false,
            audited: true,
            nodes: 0,
            images: Vec::new(),
            progress: Progress::Shown,
            directory: None,
        }
    }
}

/// What has to be there before the first process starts.
struct Parts {
    binaries: Binaries,
    images: Vec<PathBuf>,
}

impl Parts {
    fn remove_damaged(&self, progress: Progress) -> Result<Vec<String>, Error> {
        let programs = self.binaries.remove_damaged()?.into_iter().map(str::to_owned);
        let images = Images::new(self.binaries.cache().clone(), progress);
        Ok(programs.chain(images.remove_damaged(COREDNS_VERSION)?).collect())
    }
}

impl Builder {
    /// The version of Kubernetes; else `KUBEWRIGHT_KUBERNETES_VERSION`, else the newest supported.
    #[must_use]
    pub fn version(self, version: KubernetesVersion) -> Self {
        Self { version: Some(version), ..self }
    }

    /// With kube-controller-manager and kube-scheduler, which nodes bring with them.
    #[must_use]
    pub fn controllers(self) -> Self {
        Self { controllers: true, ..self }
    }

    /// etcd waits for the disk, as in production.
    #[must_use]
    pub fn durable(self) -> Self {
        Self { durable: true, ..self }
    }

    /// With the admission plugin `OwnerReferencesPermissionEnforcement`, as some clusters have it.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Without a log of all requests, which costs time where time is measured; [`Environment::audit`] then
    /// has nothing to read.
    #[must_use]
    pub fn unaudited(self) -> Self {
        Self { audited: false, ..self }
    }

    /// With this many nodes.
    #[must_use]
    pub fn nodes(self, nodes: u8) -> Self {
        Self { nodes, ..self }
    }

    /// With this docker-archive imported on every node, besides memcached's images.
    #[must_use]
    pub fn image(mut self, tar: impl Into<PathBuf>) -> Self {
        self.images.push(tar.into());
        self
    }

    /// Whether long steps are told on standard error.
    #[must_use]
    pub fn progress(self, progress: Progress) -> Self {
        Self { progress, ..self }
    }

    /// In this directory, which must be empty; else in a new one for temporary files.
    #[must_use]
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..self }
    }

    /// Starts it and returns when it can be used: the API server serves, nodes are Ready, DNS answers.
    pub async fn start(self) -> Result<Environment, Error> {
        let parts = self.prepare().await?;
        match self.attempt(&parts).await {
            // A program or an image may be damaged in a way that its stamp does not show.
            Err(error @ (Error::Exited { .. } | Error::Command { .. })) => {
                let damaged = parts.remove_damaged(self.progress)?;
                if damaged.is_empty() {
                    return Err(error);
                }
                self.progress
                    .note(&format!("damaged in the cache, made again: {}", damaged.join(", ")));
                let parts = self.prepare().await?;
                self.attempt(&parts).await
            }
            result => result,
        }
    }

    /// Gets programs and images, which may take minutes, in a thread that may block.
    async fn prepare(&self) -> Result<Parts, Error> {
        let builder = self.clone();
        let prepared = tokio::task::spawn_blocking(move || builder.prepare_blocking()).await;
        prepared.unwrap_or_else(|panic| {
            Err(Error::Io { action: "prepare", path: PathBuf::new(), source: panic.into() })
        })
    }

    fn prepare_blocking(&self) -> Result<Parts, Error> {
        let version = self.version.map_or_else(KubernetesVersion::from_environment, Ok)?;
        let cache = Cache::from_environment()?;
        let binaries = Binaries::new(cache.clone(), version, self.progress)?;
        let tier = if self.nodes > 0 { Tier::Node } else { Tier::ControlPlane };
        let data = self.directory.clone().unwrap_or_else(std::env::temp_dir);
        let missing = missing(tier, &binaries, &data);
        if !missing.is_empty() {
            return Err(Error::Missing(missing));
        }
        for binary in Binary::CONTROL_PLANE {
            binaries.find(binary)?;
        }
        if self.controllers || self.nodes > 0 {
            for binary in Binary::CONTROLLERS {
                binaries.find(binary)?;
            }
        }
        let mut images = self.images.clone();
        if self.nodes > 0 {
            packages::install(self.progress)?;
            for binary in Binary::NODE {
                binaries.find(binary)?;
            }
            let maker = Images::new(cache.clone(), self.progress);
            images.push(maker.pause()?);
            images.push(maker.coredns(&binaries.find(Binary::CoreDns)?, COREDNS_VERSION)?);
            for version in MEMCACHED_VERSIONS {
                match maker.memcached(version) {
                    Ok(image) => images.push(image),
                    // Debian moves on; a version that it no longer has must not keep a node from starting.
                    Err(error) => {
                        self.progress.note(&format!("left out: {}", crate::chain(&error)));
                    }
                }
            }
        }
        Ok(Parts { binaries, images })
    }

    async fn attempt(&self, parts: &Parts) -> Result<Environment, Error> {
        let (directory, lock) = self.claim()?;
        let workspace = Workspace::new(directory.clone());
        let keeper = Keeper::start(&directory, lock)
            .map_err(Error::io("start the keeper of", &directory))?;
        let keeper = Some(keeper);
        let binaries = &parts.binaries;
        let kubectl = binaries.find(Binary::Kubectl)?;
        let version = binaries.version();
        if self.nodes == 0 {
            let control_plane = ControlPlane::start(&workspace, binaries, &self.plan(None)).await?;
            control_plane.until_controllers_ready().await?;
            let (nodes, network) = (Vec::new(), None);
            return Ok(Environment {
                version,
                kubectl,
                control_plane,
                nodes,
                network,
                workspace,
                keeper,
            });
        }
        let network = Arc::new(Network::start(&workspace).await?);
        let nodes = self.new_nodes(parts, &workspace, &network)?;
        let plan = self.plan(Some(&network));
        let boot = try_join_all(nodes.iter().map(Node::boot));
        let (control_plane, _) =
            tokio::try_join!(ControlPlane::start(&workspace, binaries, &plan), boot)?;
        network.route(self.nodes).await?;
        let network = Some(network);
        let environment =
            Environment { version, kubectl, control_plane, nodes, network, workspace, keeper };
        environment.join_nodes().await?;
        Ok(environment)
    }

    fn claim(&self) -> Result<(PathBuf, File), Error> {
        let Some(directory) = &self.directory else {
            let base = std::env::temp_dir();
            check_path(&base)?;
            return claim_directory(&base).map_err(Error::io("make a directory in", &base));
        };
        check_path(directory)?;
        let lock =
            std::fs::create_dir_all(directory).and_then(|()| File::create(directory.join("lock")));
        let lock = lock.map_err(Error::io("create", directory))?;
        lock.lock().map_err(Error::io("lock", directory))?;
        Ok((directory.clone(), lock))
    }

    fn plan(&self, network: Option<&Arc<Network>>) -> Plan {
        let addresses = network.map(|network| network.addresses);
        Plan {
            address: addresses.map_or(Ipv4Addr::LOCALHOST, Addresses::host),
            services: addresses
                .map_or_else(|| SERVICES_WITHOUT_NODES.0.to_owned(), Addresses::services),
            api_service: addresses.map_or(SERVICES_WITHOUT_NODES.1, Addresses::api_service),
            controllers: self.controllers || self.nodes > 0,
            durable: self.durable,
            audited: self.audited,
            nodes: self.nodes > 0,
            admission: if self.strict { STRICT } else { USUAL },
        }
    }

    fn new_nodes(
        &self,
        parts: &Parts,
        workspace: &Workspace,
        network: &Arc<Network>,
    ) -> Result<Vec<Node>, Error> {
        let plan = NodePlan {
            addresses: network.addresses,
            nodes: self.nodes,
            kubelet: parts.binaries.find(Binary::Kubelet)?,
            kube_proxy: parts.binaries.find(Binary::KubeProxy)?,
            images: parts.images.clone(),
        };
        Ok((1..=self.nodes).map(|number| Node::new(workspace, network, &plan, number)).collect())
    }
}

/// The path goes into shell lines, configuration files and socket names.
fn check_path(directory: &Path) -> Result<(), Error> {
    let text = directory.to_string_lossy();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@".contains(letter);
    if text.chars().all(plain) { Ok(()) } else { Err(Error::Path(directory.to_owned())) }
}
