//! The pod of one instance: without rights, in the cluster and on its node.

use k8s_openapi::api::core::v1::{PodSecurityContext, PodSpec, PodTemplateSpec, Sysctl};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright::workload;

use super::container::{USER, container};
use super::meta::labels;
use crate::reconcile::validate::Cluster;

/// The lowest port that needs no privilege, unless a pod says otherwise.
const UNPRIVILEGED: u16 = 1024;

pub(super) fn pod_template(cluster: &Cluster) -> PodTemplateSpec {
    PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels(cluster)), ..ObjectMeta::default() }),
        spec: Some(workload::restricted(
            USER,
            PodSpec {
                containers: vec![container(cluster)],
                // One variable for each Service of the namespace would be of no use here.
                enable_service_links: Some(false),
                security_context: Some(security_context(cluster)),
                ..PodSpec::default()
            },
        )),
    }
}

fn security_context(cluster: &Cluster) -> PodSecurityContext {
    PodSecurityContext {
        sysctls: (cluster.port < UNPRIVILEGED).then(|| vec![low_ports(cluster.port)]),
        ..PodSecurityContext::default()
    }
}

/// Lets a process without privilege serve on `port`. One of the settings that Kubernetes calls safe, and
/// that restricted pods may have.
fn low_ports(port: u16) -> Sysctl {
    Sysctl { name: "net.ipv4.ip_unprivileged_port_start".to_owned(), value: port.to_string() }
}
