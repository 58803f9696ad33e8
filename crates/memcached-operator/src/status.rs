//! What is: the status of an object from what a pass saw. Pure, without a clock; since when a condition
//! holds is filled in by the library.

mod available;
mod degraded;
mod progressing;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use k8s_openapi::api::apps::v1::Deployment;
use kubewright::rollout::Rollout;
use memcached_api::labels::INSTANCE;
use memcached_api::v1alpha1::{Memcached, MemcachedStatus};

use crate::error::Error;
use crate::reconcile::gather::{Instance, Observed};
use crate::reconcile::validate::Cluster;

/// What a pass came to.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Everything was applied; the Deployment as it then was.
    Applied(&'a Deployment),
    /// It failed.
    Failed(&'a Error),
}

/// The status of an object that lives.
pub fn status(
    memcached: &Memcached,
    cluster: Option<&Cluster>,
    observed: &Observed,
    progress: Progress<'_>,
) -> MemcachedStatus {
    let size = memcached.spec.size;
    let (rollout, failure) = match progress {
        Progress::Applied(deployment) => (Some(Rollout::of(deployment)), None),
        Progress::Failed(error) => (None, Some(error)),
    };
    MemcachedStatus {
        conditions: vec![
            available::available(size, observed),
            progressing::progressing(size, observed, rollout.as_ref()),
            degraded::degraded(observed, rollout.as_ref(), failure),
        ],
        ..facts(memcached, cluster, observed)
    }
}

/// The status of an object that is being deleted: what is left of it, and that it goes.
pub fn finalizing(memcached: &Memcached) -> MemcachedStatus {
    let mut status = memcached.status.clone().unwrap_or_default();
    status.observed_generation = memcached.metadata.generation;
    let going = degraded::finalizing(memcached);
    status.conditions.retain(|condition| condition.type_ != going.type_);
    status.conditions.push(going);
    status
}

/// Everything but the conditions.
fn facts(memcached: &Memcached, cluster: Option<&Cluster>, observed: &Observed) -> MemcachedStatus {
    let port = memcached.spec.container_port;
    let ready = observed.instances.iter().filter(|instance| instance.ready);
    let mut servers: Vec<_> = ready.filter_map(|instance| address(instance, port)).collect();
    servers.sort();
    let names: Vec<_> = observed.instances.iter().map(|instance| instance.name.clone()).collect();
    MemcachedStatus {
        nodes: Some(names).filter(|names| !names.is_empty()),
        server_list: Some(servers).filter(|servers| !servers.is_empty()),
        replicas: Some(observed.total()),
        ready_replicas: Some(observed.ready()),
        selector: cluster.map(|cluster| format!("{INSTANCE}={}", cluster.instance)),
        image: cluster.map(|cluster| cluster.image.clone()),
        observed_generation: memcached.metadata.generation,
        conditions: Vec::new(),
    }
}

/// `10.0.0.1:11211`, or `[fd00::1]:11211`.
fn address(instance: &Instance, port: i32) -> Option<String> {
    let address = instance.address.as_ref()?;
    let is_version_6 = address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6());
    Some(if is_version_6 { format!("[{address}]:{port}") } else { format!("{address}:{port}") })
}
