//! etcd and kube-apiserver, and on request the controllers: started together, each restartable on
//! its own data and ports. Works without root.
//!
//! Owns the order of the start and the identities; what each program is told is in the submodules.

pub(crate) mod apiserver;
mod controllers;
pub(crate) mod etcd;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use tokio::net::TcpStream;

use crate::binaries::{Binaries, Binary};
use crate::certificates::{Authority, Pair};
use crate::client::client;
use crate::error::Error;
use crate::kubeconfig::{Credentials, kubeconfig};
use crate::process::{Process, until_ready};
use crate::workspace::Workspace;

/// A machine under load takes its time; nothing that works takes this long.
const START_LIMIT: Duration = Duration::from_mins(3);
/// How often a start is tried again because another process took a port in the meantime.
const PORT_TRIES: usize = 3;

/// What a control plane shall be like.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The address of the API server: loopback, or the host's on the nodes' network.
    pub(crate) address: Ipv4Addr,
    /// Where Services get their addresses.
    pub(crate) services: String,
    /// The first address of `services`: the API server's own Service.
    pub(crate) api_service: Ipv4Addr,
    /// Whether controller-manager and scheduler run too.
    pub(crate) controllers: bool,
    /// Whether etcd waits for the disk.
    pub(crate) durable: bool,
    /// Whether requests are logged.
    pub(crate) audited: bool,
    /// Whether there are nodes that can reach `address`.
    pub(crate) nodes: bool,
    /// Admission plugins beside those that are on by default.
    pub(crate) admission: &'static str,
}

/// The running control plane.
pub(crate) struct ControlPlane {
    pub(crate) etcd: Process,
    pub(crate) apiserver: Process,
    pub(crate) controller_manager: Option<Process>,
    pub(crate) scheduler: Option<Process>,
    pub(crate) authority: Authority,
    pub(crate) server: String,
    pub(crate) endpoint: SocketAddr,
    pub(crate) admin: Pair,
    pub(crate) admin_kubeconfig: PathBuf,
    pub(crate) client: Client,
    etcd_port: u16,
}

impl ControlPlane {
    pub(crate) async fn start(
        workspace: &Workspace,
        binaries: &Binaries,
        plan: &Plan,
    ) -> Result<Self, Error> {
        while_ports_are_taken(async || Self::try_start(workspace, binaries, plan).await).await
    }

    async fn try_start(
        workspace: &Workspace,
        binaries: &Binaries,
        plan: &Plan,
    ) -> Result<Self, Error> {
        let keys = apiserver::Keys::write(workspace, plan)?;
        let [etcd_port, peer_port] =
            [free_port(Ipv4Addr::LOCALHOST)?, free_port(Ipv4Addr::LOCALHOST)?];
        let etcd = etcd::process(
            workspace,
            &binaries.find(Binary::Etcd)?,
            etcd_port,
            peer_port,
            plan.durable,
        )?;
        let port = free_port(plan.address)?;
        let program = binaries.find(Binary::KubeApiserver)?;
        let apiserver = apiserver::process(workspace, &program, plan, port, etcd_port);

        let server = format!("https://{}:{port}", plan.address);
        let admin = keys.authority.client("kubewright-admin", Some("system:masters"))?;
        let credentials =
            Credentials { certificate: Some(admin.clone()), ..Credentials::default() };
        let config = kubeconfig(&server, &keys.authority.certificate, "admin", &credentials);
        let admin_kubeconfig = workspace.write("kubeconfig", config)?;
        let client = client(&admin_kubeconfig).await?;

        let started = Self {
            etcd,
            apiserver,
            controller_manager: None,
            scheduler: None,
            authority: keys.authority,
            server,
            endpoint: SocketAddr::new(IpAddr::V4(plan.address), port),
            admin,
            admin_kubeconfig,
            client,
            etcd_port,
        };
        let result = started.start_store_and_server().await;
        if result.is_err() {
            // The keeper would end them too, but a new try needs the data directory now.
            started.apiserver.kill().await?;
            started.etcd.kill().await?;
        }
        result?;
        if plan.controllers {
            started.start_controllers(workspace, binaries, plan)
        } else {
            Ok(started)
        }
    }

    async fn start_store_and_server(&self) -> Result<(), Error> {
        self.etcd.start()?;
        self.until_etcd_ready().await?;
        self.apiserver.start()?;
        self.until_apiserver_ready().await
    }

    fn start_controllers(
        mut self,
        workspace: &Workspace,
        binaries: &Binaries,
        plan: &Plan,
    ) -> Result<Self, Error> {
        let manager = binaries.find(Binary::KubeControllerManager)?;
        let identity = self.identity(workspace, "system:kube-controller-manager", None)?;
        let manager = controllers::controller_manager(workspace, &manager, &identity, plan);
        let scheduler = binaries.find(Binary::KubeScheduler)?;
        let identity = self.identity(workspace, "system:kube-scheduler", None)?;
        let scheduler = controllers::scheduler(workspace, &scheduler, &identity);
        manager.start()?;
        scheduler.start()?;
        self.controller_manager = Some(manager);
        self.scheduler = Some(scheduler);
        Ok(self)
    }

    /// Waits until etcd takes connections.
    pub(crate) async fn until_etcd_ready(&self) -> Result<(), Error> {
        let address = (Ipv4Addr::LOCALHOST, self.etcd_port);
        until_ready(&self.etcd, START_LIMIT, async || {
            TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string())
        })
        .await
    }

    /// Waits until the API server says that it is ready.
    pub(crate) async fn until_apiserver_ready(&self) -> Result<(), Error> {
        until_ready(&self.apiserver, START_LIMIT, async || {
            let request = http::Request::get("/readyz")
                .body(Vec::new())
                .map_err(|error| error.to_string())?;
            self.client.request_text(request).await.map(drop).map_err(|error| crate::chain(&error))
        })
        .await
    }

    /// Waits until the controllers work: a namespace has its default ServiceAccount, without which no
    /// pod can be made.
    pub(crate) async fn until_controllers_ready(&self) -> Result<(), Error> {
        let Some(manager) = &self.controller_manager else { return Ok(()) };
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
        until_ready(manager, START_LIMIT, async || {
            accounts.get("default").await.map(drop).map_err(|error| crate::chain(&error))
        })
        .await?;
        self.scheduler.as_ref().map_or(Ok(()), Process::check)
    }

    /// The kubeconfig of a component with a certificate of its own, as a file.
    pub(crate) fn identity(
        &self,
        workspace: &Workspace,
        user: &str,
        group: Option<&str>,
    ) -> Result<PathBuf, Error> {
        let certificate = Some(self.authority.client(user, group)?);
        let credentials = Credentials { certificate, ..Credentials::default() };
        self.write_kubeconfig(workspace, &user.replace(':', "-"), &self.server, &credentials)
    }

    /// Writes a kubeconfig for `server`, which is the API server or a proxy to it.
    pub(crate) fn write_kubeconfig(
        &self,
        workspace: &Workspace,
        label: &str,
        server: &str,
        credentials: &Credentials,
    ) -> Result<PathBuf, Error> {
        let config = kubeconfig(server, &self.authority.certificate, label, credentials);
        workspace.directory("identities")?;
        workspace.write(&format!("identities/{label}.kubeconfig"), config)
    }
}

/// Tries again with other ports when another process took one between finding and using it.
async fn while_ports_are_taken<T>(
    mut start: impl AsyncFnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    for _ in 1..PORT_TRIES {
        match start().await {
            Err(Error::Exited { log, .. }) if log.contains("address already in use") => {}
            result => return result,
        }
    }
    start().await
}

/// A port that nobody listens on at the moment. It may be taken before it is used: the start is then
/// tried again with another.
fn free_port(address: Ipv4Addr) -> Result<u16, Error> {
    let listener = TcpListener::bind((IpAddr::V4(address), 0));
    let port = listener.and_then(|listener| listener.local_addr()).map(|address| address.port());
    port.map_err(Error::io("find a free port on", address.to_string().as_ref()))
}

/// `--name=value` lines as arguments.
fn arguments(program: &std::path::Path, lines: &[String]) -> Vec<std::ffi::OsString> {
    let lines = lines.iter().map(|line| line.as_str().into());
    std::iter::once(program.as_os_str().to_owned()).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(log: &str) -> Error {
        Error::Exited { name: "etcd".to_owned(), status: "1".to_owned(), log: log.to_owned() }
    }

    #[tokio::test]
    async fn a_start_that_found_its_port_taken_is_tried_again() {
        let mut starts = 0;
        let result = while_ports_are_taken(async || {
            starts += 1;
            if starts == 1 { Err(ended("bind: address already in use")) } else { Ok(()) }
        });
        result.await.unwrap();
        assert_eq!(starts, 2);
    }

    #[tokio::test]
    async fn ports_that_stay_taken_and_other_failures_end_the_start() {
        let mut starts = 0;
        let mut start = async |log| {
            starts += 1;
            Err::<(), _>(ended(log))
        };
        while_ports_are_taken(async || start("address already in use").await).await.unwrap_err();
        while_ports_are_taken(async || start("unknown flag").await).await.unwrap_err();
        assert_eq!(starts, PORT_TRIES + 1);
    }
}
