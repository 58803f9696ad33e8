//! The environment as a whole: what it shall be like, its start, what a test does with it, its end.
//!
//! Only composes; each part is in a module of its own.

mod builder;
mod join;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Node as NodeObject;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ListParams;
use kube::{Api, Client};

use crate::audit::{self, AuditRecord};
use crate::control_plane::{ControlPlane, apiserver};
use crate::error::Error;
use crate::identity::{self, Disturbed, Showing, Shown};
use crate::keeper::Keeper;
use crate::kubeconfig::Identity;
use crate::network::Network;
use crate::node::Node;
use crate::process::Process;
use crate::snapshot::{self, Snapshot};
use crate::version::KubernetesVersion;
use crate::workspace::Workspace;
use crate::{client, crds};

pub use builder::Builder;

/// A running Kubernetes. It ends, with everything that belongs to it, when this is dropped, and also
/// when the process that holds it is killed.
pub struct Environment {
    version: KubernetesVersion,
    kubectl: PathBuf,
    control_plane: ControlPlane,
    nodes: Vec<Node>,
    network: Option<Arc<Network>>,
    workspace: Workspace,
    /// None once it was told to end the environment, or to let it go.
    keeper: Option<Keeper>,
}

impl Environment {
    /// What is started, if nothing else is said: etcd and kube-apiserver of the newest version.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The version of Kubernetes that runs.
    pub fn version(&self) -> KubernetesVersion {
        self.version
    }

    /// A client with all rights.
    pub fn client(&self) -> Client {
        self.control_plane.client.clone()
    }

    /// A client that speaks as `identity`.
    pub async fn client_as(&self, identity: Identity<'_>) -> Result<Client, Error> {
        client::client(&self.kubeconfig_as(identity).await?).await
    }

    /// The kubeconfig with all rights.
    pub fn kubeconfig(&self) -> &Path {
        &self.control_plane.admin_kubeconfig
    }

    /// A kubeconfig that speaks as `identity`.
    pub async fn kubeconfig_as(&self, identity: Identity<'_>) -> Result<PathBuf, Error> {
        let credentials = identity::credentials(&self.control_plane, identity).await?;
        let server = &self.control_plane.server;
        self.control_plane.write_kubeconfig(
            &self.workspace,
            &identity.label(),
            server,
            &credentials,
        )
    }

    /// A way to the API server for one client, with faults on demand.
    pub async fn disturbed(&self, identity: Identity<'_>) -> Result<Disturbed, Error> {
        identity::disturbed(&self.workspace, &self.control_plane, identity).await
    }

    /// A certificate that a proxy may [show](crate::proxy::Proxy::show) in the place of its first one.
    pub fn shown(&self, showing: Showing) -> Result<Shown, Error> {
        identity::shown(&self.control_plane, showing)
    }

    /// `kubectl` with all rights.
    pub fn kubectl(&self) -> Command {
        let mut command = self.workspace.command(&self.kubectl.to_string_lossy());
        command.env("KUBECONFIG", self.kubeconfig());
        command
    }

    /// Installs definitions and waits until they are served.
    pub async fn install(&self, definitions: &[CustomResourceDefinition]) -> Result<(), Error> {
        crds::install(&self.control_plane.client, definitions).await
    }

    /// Every request so far.
    pub fn audit(&self) -> Result<Vec<AuditRecord>, Error> {
        audit::read(&self.workspace.path(apiserver::AUDIT_LOG))
    }

    /// The store.
    pub fn etcd(&self) -> &Process {
        &self.control_plane.etcd
    }

    /// The API server.
    pub fn apiserver(&self) -> &Process {
        &self.control_plane.apiserver
    }

    /// The built-in controllers, if asked for.
    pub fn controller_manager(&self) -> Option<&Process> {
        self.control_plane.controller_manager.as_ref()
    }

    /// The scheduler, if asked for.
    pub fn scheduler(&self) -> Option<&Process> {
        self.control_plane.scheduler.as_ref()
    }

    /// The nodes, if asked for.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Waits until etcd and the API server answer, after one of them was disturbed.
    pub async fn until_ready(&self) -> Result<(), Error> {
        self.control_plane.until_etcd_ready().await?;
        self.control_plane.until_apiserver_ready().await
    }

    /// Waits until the node `name` is (or is not) Ready.
    pub async fn until_node(&self, name: &str, ready: bool, limit: Duration) -> Result<(), Error> {
        let wanted = if ready { "True" } else { "not True" };
        let started = Instant::now();
        loop {
            let state = self.node_ready(name).await;
            if (state.as_deref() == Ok("True")) == ready {
                return Ok(());
            }
            if started.elapsed() > limit {
                let state = format!("Ready is {state:?} and should be {wanted}");
                return Err(Error::NotReady { what: name.to_owned(), after: limit, state });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn node_ready(&self, name: &str) -> Result<String, String> {
        let api: Api<NodeObject> = Api::all(self.client());
        let list = api.list(&ListParams::default().fields(&format!("metadata.name={name}"))).await;
        let node = list.map_err(|error| crate::chain(&error))?.items.pop();
        let status = node.ok_or("it has not registered")?.status.unwrap_or_default();
        let ready = status
            .conditions
            .unwrap_or_default()
            .into_iter()
            .find(|condition| condition.type_ == "Ready");
        ready
            .map(|condition| condition.status)
            .ok_or_else(|| "it has no condition Ready".to_owned())
    }

    /// Waits until all replicas of a Deployment are available.
    pub async fn until_deployed(
        &self,
        namespace: &str,
        name: &str,
        limit: Duration,
    ) -> Result<(), Error> {
        let api: Api<Deployment> = Api::namespaced(self.client(), namespace);
        let started = Instant::now();
        loop {
            let state = match api.get(name).await {
                Ok(deployment) if is_available(&deployment) => return Ok(()),
                Ok(deployment) => format!("its status is {:?}", deployment.status),
                Err(error) => crate::chain(&error),
            };
            if started.elapsed() > limit {
                let what = format!("Deployment {namespace}/{name}");
                return Err(Error::NotReady { what, after: limit, state });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sets the state of the cluster aside.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        snapshot::take(&self.workspace, &self.control_plane)
    }

    /// Brings an earlier state of the cluster back, as a restore from a backup does.
    pub async fn restore(&self, snapshot: &Snapshot) -> Result<(), Error> {
        snapshot::restore(&self.workspace, &self.control_plane, snapshot).await
    }

    /// All components and their process ids, for status and dumps.
    pub fn processes(&self) -> Vec<(String, Option<u32>)> {
        let mut processes = Vec::new();
        self.each_process(|process| processes.push((process.name().to_owned(), process.id())));
        processes
    }

    fn each_process(&self, mut visit: impl FnMut(&Process)) {
        let plane = &self.control_plane;
        [&plane.etcd, &plane.apiserver].into_iter().for_each(&mut visit);
        plane.controller_manager.iter().chain(&plane.scheduler).for_each(&mut visit);
        self.network.iter().for_each(|network| visit(&network.switch));
        self.nodes.iter().flat_map(Node::processes).for_each(|process| visit(&process));
    }

    /// The directory with data and logs.
    pub fn directory(&self) -> &Path {
        self.workspace.root()
    }

    /// Ends the environment and returns when nothing of it is left.
    pub async fn stop(mut self) -> Result<(), Error> {
        let directory = self.workspace.root().to_owned();
        let ended = tokio::task::spawn_blocking(move || self.tear_down()).await;
        ended.unwrap_or_else(|error| Err(error.into())).map_err(Error::io("tear down", &directory))
    }

    /// Lets the environment outlive this process; [`tear_down`](crate::tear_down) ends it.
    pub fn release(mut self) -> Result<(), Error> {
        let released = self.keeper.take().map_or(Ok(()), Keeper::release);
        released.map_err(Error::io("let go of", self.workspace.root()))
    }

    fn tear_down(&mut self) -> io::Result<()> {
        let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
        let ended = keeper.tear_down();
        self.each_process(Process::reap);
        ended
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        let _ = self.tear_down();
    }
}

fn is_available(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    deployment
        .status
        .as_ref()
        .is_some_and(|status| status.available_replicas.unwrap_or(0) >= wanted)
}
