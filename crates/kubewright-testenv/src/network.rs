//! The network of one environment: a switch in a network namespace of its own, one cable to the
//! host, one to each node.
//!
//! ```text
//!   host ── kwXXXXXX ─┬─ switch (own namespace) ─┬─ node-1 (own namespace) ── pods 10.N.129.0/24
//!       10.N.0.1      │                          └─ node-2 (own namespace) ── pods 10.N.130.0/24
//!   route 10.N.0.0/16 ┘
//! ```
//!
//! The whole of 10.N.0.0/16 is routed to the cable, so a packet for a Service that nobody serves or a
//! pod that is gone ends there and never on the default route. Nodes and pods have no default route.
//! All of it goes away with the switch's one process: the host keeps no bridge and no rule, forwards
//! nothing, and is in nobody's way.

use std::ffi::OsString;
use std::fs;
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::error::Error;
use crate::process::Process;
use crate::workspace::Workspace;

/// Second bytes that environments take their networks from.
const CHOICES: std::ops::RangeInclusive<u8> = 200..=249;

/// The addresses of one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses(u8);

impl Addresses {
    pub(crate) fn all(self) -> String {
        format!("10.{}.0.0/16", self.0)
    }

    pub(crate) fn host(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.0, 0, 1)
    }

    pub(crate) fn node(self, number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.0, 0, 10 + number)
    }

    pub(crate) fn services(self) -> String {
        format!("10.{}.64.0/18", self.0)
    }

    pub(crate) fn api_service(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.0, 64, 1)
    }

    pub(crate) fn dns(self) -> Ipv4Addr {
        Ipv4Addr::new(10, self.0, 64, 10)
    }

    pub(crate) fn pods(self) -> String {
        format!("10.{}.128.0/17", self.0)
    }

    pub(crate) fn pods_of(self, number: u8) -> String {
        format!("10.{}.{}.0/24", self.0, 128 + number)
    }
}

/// The running network.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) addresses: Addresses,
    link: String,
    pub(crate) switch: Process,
    workspace: Workspace,
}

impl Network {
    pub(crate) async fn start(workspace: &Workspace) -> Result<Self, Error> {
        let line = ["unshare", "--net", "--", "sleep", "infinity"].map(OsString::from).to_vec();
        let switch = Process::new(workspace, "switch", line);
        switch.start()?;
        let id = namespace_of(&switch, "net").await?.to_string();
        // The keeper removes the link of this name.
        let link = format!("kw{}", workspace.short_name());
        workspace
            .run_line(&format!("ip link add {link} type veth peer name host netns {id}"))
            .await?;
        let inside = "ip link set lo up; ip link add nodes type bridge; ip link set nodes up; \
                      ip link set host master nodes; ip link set host up";
        workspace.run(&["nsenter", "-t", &id, "-n", "sh", "-ec", inside]).await?;
        workspace.run_line(&format!("ip link set {link} up")).await?;
        let addresses = claim_addresses(workspace, &link).await?;
        workspace.run_line(&format!("ip address add {}/24 dev {link}", addresses.host())).await?;
        Ok(Self { addresses, link, switch, workspace: workspace.clone() })
    }

    /// Runs a command in the switch's namespace.
    pub(crate) async fn inside(&self, line: &str) -> Result<(), Error> {
        self.workspace
            .run_line(&format!("nsenter -t {} -n {line}", self.switch_id()?))
            .await
            .map(drop)
    }

    fn switch_id(&self) -> Result<u32, Error> {
        self.switch.id().ok_or_else(|| Error::NoSuch("switch".to_owned()))
    }

    /// Lays the cable from the switch to the namespace of process `init`, where it is `eth0`.
    pub(crate) async fn connect(&self, port: &str, init: u32) -> Result<(), Error> {
        let id = self.switch_id()?;
        // The kernel may still be at removing the cable of a node that was powered off a moment ago.
        let _ = self.inside(&format!("ip link del {port}")).await;
        let line = format!("ip link add {port} netns {id} type veth peer name eth0 netns {init}");
        self.workspace.run_line(&line).await?;
        self.inside(&format!("ip link set {port} master nodes up")).await
    }

    /// Routes from the host to the pods of each of `nodes` nodes, and to Services through all of them.
    pub(crate) async fn route(&self, nodes: u8) -> Result<(), Error> {
        let addresses = self.addresses;
        let mut hops = String::new();
        for number in 1..=nodes {
            let node = addresses.node(number);
            let pods = addresses.pods_of(number);
            self.workspace
                .run_line(&format!("ip route replace {pods} via {node} dev {}", self.link))
                .await?;
            hops = format!("{hops} nexthop via {node} dev {}", self.link);
        }
        let line = format!("ip route replace {}{hops}", addresses.services());
        self.workspace.run_line(&line).await.map(drop)
    }
}

/// The route itself is the claim: the kernel lets only one environment add it.
async fn claim_addresses(workspace: &Workspace, link: &str) -> Result<Addresses, Error> {
    for addresses in CHOICES.map(Addresses) {
        let range = addresses.all();
        let taken = workspace.run_line(&format!("ip -4 route show root {range}")).await?;
        let claim = format!("ip route add {range} dev {link}");
        if taken.trim().is_empty() && workspace.run_line(&claim).await.is_ok() {
            return Ok(addresses);
        }
    }
    Err(Error::NoSuch(format!(
        "network left: 10.{}.0.0/16 to 10.{}.0.0/16 are all in use; remove environments or routes",
        CHOICES.start(),
        CHOICES.end()
    )))
}

/// The id of `process`, once it has a `kind` namespace of its own.
pub(crate) async fn namespace_of(process: &Process, kind: &str) -> Result<u32, Error> {
    let ours = fs::read_link(format!("/proc/self/ns/{kind}")).ok();
    for _ in 0..500 {
        process.check()?;
        if let Some(id) = process.id() {
            let theirs = fs::read_link(format!("/proc/{id}/ns/{kind}")).ok();
            if theirs.is_some() && theirs != ours {
                return Ok(id);
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (what, after) = (process.name().to_owned(), Duration::from_secs(5));
    Err(Error::NotReady { what, after, state: format!("it has no {kind} namespace of its own") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_network_do_not_overlap() {
        let addresses = Addresses(200);
        assert_eq!(addresses.all(), "10.200.0.0/16");
        assert_eq!(addresses.node(1), Ipv4Addr::new(10, 200, 0, 11));
        assert_eq!(addresses.dns(), Ipv4Addr::new(10, 200, 64, 10));
        assert_eq!(addresses.pods_of(1), "10.200.129.0/24");
        assert_eq!(addresses.pods(), "10.200.128.0/17");
    }
}
