//! The container of one instance: memcached, its probes and its limits.

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, Probe, SecurityContext, TCPSocketAction,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use memcached_api::labels::MEMCACHED;
use memcached_api::v1alpha1::DEFAULT_PORT;

use crate::reconcile::validate::Cluster;

/// Whom the instances run as.
pub(super) const USER: i64 = 1001;

pub(super) fn container(cluster: &Cluster) -> Container {
    Container {
        name: MEMCACHED.to_owned(),
        image: Some(cluster.image.clone()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: Some(command(cluster.port)),
        ports: Some(vec![ContainerPort {
            name: Some(MEMCACHED.to_owned()),
            container_port: cluster.port.into(),
            protocol: Some("TCP".to_owned()),
            ..ContainerPort::default()
        }]),
        readiness_probe: Some(readiness_probe()),
        liveness_probe: Some(liveness_probe()),
        resources: Some(cluster.resources.clone()),
        security_context: Some(security_context()),
        ..Container::default()
    }
}

/// The long spelling of the limit: `-m=64` is read as 0, which 1.6.18 refuses.
fn command(port: u16) -> Vec<String> {
    let mut command: Vec<String> =
        ["memcached", "--memory-limit=64", "-o", "modern", "-v"].map(Into::into).into();
    if i32::from(port) != DEFAULT_PORT {
        command.push(format!("--port={port}"));
    }
    command
}

/// Memcached serves milliseconds after its start, so that asking each second costs the least time.
fn readiness_probe() -> Probe {
    Probe { period_seconds: Some(1), timeout_seconds: Some(1), ..connects() }
}

/// A restart loses the cache: only an instance that has not answered for a minute is worth it.
fn liveness_probe() -> Probe {
    Probe {
        period_seconds: Some(10),
        timeout_seconds: Some(5),
        failure_threshold: Some(6),
        ..connects()
    }
}

fn connects() -> Probe {
    let port = IntOrString::String(MEMCACHED.to_owned());
    Probe {
        tcp_socket: Some(TCPSocketAction { port, ..TCPSocketAction::default() }),
        ..Probe::default()
    }
}

fn security_context() -> SecurityContext {
    SecurityContext {
        read_only_root_filesystem: Some(true),
        run_as_non_root: Some(true),
        run_as_user: Some(USER),
        ..SecurityContext::default()
    }
}
