//! The Deployment that runs the instances of a cache.

use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::meta::{label_selector, named};
use super::pod::pod_template;
use crate::reconcile::validate::Cluster;

pub(super) fn deployment(cluster: &Cluster) -> Deployment {
    Deployment {
        metadata: named(cluster, cluster.name.clone()),
        spec: Some(DeploymentSpec {
            replicas: Some(cluster.size),
            selector: label_selector(cluster),
            strategy: Some(one_at_a_time()),
            template: pod_template(cluster),
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    }
}

/// Never more instances than were asked for, and never more than one missing: each is a part of the cache.
fn one_at_a_time() -> DeploymentStrategy {
    DeploymentStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(RollingUpdateDeployment {
            max_surge: Some(IntOrString::Int(0)),
            max_unavailable: Some(IntOrString::Int(1)),
        }),
    }
}
