//! A node: a real kubelet with containerd, runc, CNI and kube-proxy, in namespaces of its own that
//! one process holds. Ending that process is pulling the plug; everything of the node goes with it.
//!
//! Owns the life of a node and its faults. What its programs are told is in the submodules.

mod cgroups;
mod configuration;
pub(crate) mod packages;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::error::Error;
use crate::network::{Addresses, Network, namespace_of};
use crate::process::{Process, until_ready};
use crate::workspace::Workspace;

/// The socket of the container runtime of a node, as seen from outside, by the node's first process.
pub fn containerd_socket(init: u32) -> PathBuf {
    format!("/proc/{init}/root/run/containerd/containerd.sock").into()
}

/// What all nodes of an environment share.
#[derive(Clone, Debug)]
pub(crate) struct NodePlan {
    pub(crate) addresses: Addresses,
    pub(crate) nodes: u8,
    pub(crate) kubelet: PathBuf,
    pub(crate) kube_proxy: PathBuf,
    pub(crate) images: Vec<PathBuf>,
}

/// The command line of a node's first process, which is called `tini` once its namespaces are made.
const INIT: &str = "unshare --pid --fork --kill-child --mount-proc --net --mount --uts --ipc -- \
                    tini -- sleep infinity";

/// A node of the environment, on or off.
#[derive(Debug)]
pub struct Node {
    name: String,
    number: u8,
    plan: NodePlan,
    workspace: Workspace,
    network: Arc<Network>,
    running: Mutex<Option<Running>>,
}

/// The processes of a node that is on.
#[derive(Clone, Debug)]
struct Running {
    init: Arc<Process>,
    containerd: Arc<Process>,
    kubelet: Arc<Process>,
    kube_proxy: Arc<Process>,
}

impl Node {
    pub(crate) fn new(
        workspace: &Workspace,
        network: &Arc<Network>,
        plan: &NodePlan,
        number: u8,
    ) -> Self {
        Self {
            name: format!("node-{number}"),
            number,
            plan: plan.clone(),
            workspace: workspace.clone(),
            network: network.clone(),
            running: Mutex::new(None),
        }
    }

    /// The name of the Node object.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The container runtime.
    pub fn containerd(&self) -> Result<Arc<Process>, Error> {
        Ok(self.running()?.containerd)
    }

    /// The node agent.
    pub fn kubelet(&self) -> Result<Arc<Process>, Error> {
        Ok(self.running()?.kubelet)
    }

    /// What makes Services work.
    pub fn kube_proxy(&self) -> Result<Arc<Process>, Error> {
        Ok(self.running()?.kube_proxy)
    }

    /// Pulls the network cable: the node and its pods go on, nobody can reach them.
    pub async fn partition(&self) -> Result<(), Error> {
        self.network.inside(&format!("ip link set {} down", self.name)).await
    }

    /// Puts the network cable back.
    pub async fn heal(&self) -> Result<(), Error> {
        self.network.inside(&format!("ip link set {} up", self.name)).await
    }

    /// Pulls the plug: every process of the node ends at once. Its disk stays.
    pub async fn power_off(&self) -> Result<(), Error> {
        let running = self.running()?;
        running.init.kill().await?;
        for process in [&running.containerd, &running.kubelet, &running.kube_proxy] {
            process.kill().await?;
        }
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Starts the node again, on the same disk and with the same addresses.
    pub async fn power_on(&self) -> Result<(), Error> {
        self.boot().await?;
        let running = self.running()?;
        running.kubelet.start()?;
        running.kube_proxy.start()
    }

    /// Makes the docker-archive `tar` known to the container runtime.
    pub async fn import_image(&self, tar: &Path) -> Result<(), Error> {
        let init = self.running()?.init.id().ok_or_else(|| Error::NoSuch(self.name.clone()))?;
        let address = containerd_socket(init).display().to_string();
        let tar = tar.display().to_string();
        self.workspace
            .run(&["ctr", "-a", &address, "-n", "k8s.io", "images", "import", &tar])
            .await
            .map(drop)
    }

    /// Namespaces, network, container runtime and images; the kubelet waits for [`Self::join`], because
    /// all this needs no API server.
    pub(crate) async fn boot(&self) -> Result<(), Error> {
        let first = !self.workspace.path(&self.name).exists();
        configuration::write(&self.workspace, &self.name, self.number, &self.plan)?;
        cgroups::create(&self.cgroup())?;
        let init = self.start_init().await?;
        let id = init.id().ok_or_else(|| Error::NoSuch(self.name.clone()))?;
        self.network.connect(&self.name, id).await?;
        let id_text = id.to_string();
        let script =
            configuration::boot_script(&self.workspace, &self.name, self.number, &self.plan);
        self.workspace
            .run(&["nsenter", "-t", &id_text, "-n", "-m", "-u", "sh", "-ec", &script])
            .await?;

        let inside = |name: &str, line: Vec<OsString>| {
            Arc::new(Process::inside(&self.workspace, format!("{}/{name}", self.name), id, line))
        };
        let lines = configuration::Lines::new(&self.workspace, &self.name, self.number, &self.plan);
        let containerd = inside("containerd", lines.containerd);
        let running = Running {
            init: Arc::new(init),
            containerd: containerd.clone(),
            kubelet: inside("kubelet", lines.kubelet),
            kube_proxy: inside("kube-proxy", lines.kube_proxy),
        };
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
        containerd.start()?;
        until_ready(&containerd, Duration::from_secs(30), async || {
            let line = ["nsenter", "-t", &id_text, "-m", "ctr", "version"];
            self.workspace.run(&line).await.map(drop).map_err(|error| error.to_string())
        })
        .await?;
        if first {
            try_join_all(self.plan.images.iter().map(|tar| self.import_image(tar))).await?;
        }
        Ok(())
    }

    /// Starts the kubelet and kube-proxy with the given kubeconfigs, which are kept for later boots.
    pub(crate) fn join(&self, kubelet: &Path, kube_proxy: &Path) -> Result<(), Error> {
        for (from, to) in [(kubelet, "kubelet.kubeconfig"), (kube_proxy, "kube-proxy.kubeconfig")] {
            let content = std::fs::read(from).map_err(Error::io("read", from))?;
            self.workspace.write(&format!("{}/{to}", self.name), content)?;
        }
        let running = self.running()?;
        running.kubelet.start()?;
        running.kube_proxy.start()
    }

    /// The first process of the node: it holds the namespaces and reaps what loses its parent.
    async fn start_init(&self) -> Result<Process, Error> {
        let line = INIT.split(' ').map(OsString::from).collect();
        let init = Process::forking(&self.workspace, format!("{}/init", self.name), line);
        init.start()?;
        let id = namespace_of(&init, "pid").await?;
        // `unshare` mounts the new /proc after the namespaces are made and before it starts the program.
        until_ready(&init, Duration::from_secs(5), async || {
            let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
            if name.trim() == "tini" { Ok(()) } else { Err(format!("it is still {name}")) }
        })
        .await?;
        Ok(init)
    }

    fn cgroup(&self) -> String {
        configuration::cgroup(&self.workspace, &self.name)
    }

    fn running(&self) -> Result<Running, Error> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.clone().ok_or_else(|| Error::NoSuch(format!("{} that is powered on", self.name)))
    }

    /// An error if one of the node's processes ended although it should run.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.processes().iter().try_for_each(|process| process.check())
    }

    /// The node's processes, for status and dumps; none while it is off.
    pub(crate) fn processes(&self) -> Vec<Arc<Process>> {
        self.running().map_or_else(
            |_| Vec::new(),
            |Running { init, containerd, kubelet, kube_proxy }| {
                vec![init, containerd, kubelet, kube_proxy]
            },
        )
    }
}
