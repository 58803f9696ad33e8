//! The Service that makes the instances found by name, each with its own address.

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::names::service_name;
use memcached_api::labels::MEMCACHED;

use super::meta::{named, selector};
use crate::reconcile::validate::Cluster;

pub(super) fn service_headless(cluster: &Cluster) -> Service {
    Service {
        metadata: named(cluster, service_name(&cluster.name)),
        spec: Some(ServiceSpec {
            cluster_ip: Some("None".to_owned()),
            ports: Some(vec![ServicePort {
                name: Some(MEMCACHED.to_owned()),
                port: cluster.port.into(),
                protocol: Some("TCP".to_owned()),
                target_port: Some(IntOrString::String(MEMCACHED.to_owned())),
                ..ServicePort::default()
            }]),
            // Clients spread keys over the addresses that they find: one that leaves for the two seconds
            // of a missed probe would move nearly all keys.
            publish_not_ready_addresses: Some(true),
            selector: Some(selector(cluster)),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}
