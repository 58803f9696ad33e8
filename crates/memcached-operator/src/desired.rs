//! What there should be for one cache: pure, typed, complete.

mod container;
mod deployment;
mod meta;
mod pod;
mod service;
#[cfg(test)]
mod tests;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;

pub use meta::{labels, selector};

use crate::reconcile::validate::Cluster;

/// Everything that belongs to one cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Runs the instances.
    pub deployment: Deployment,
    /// Makes them found by name.
    pub service: Service,
}

/// What there should be.
pub fn desired(cluster: &Cluster) -> Desired {
    Desired {
        deployment: deployment::deployment(cluster),
        service: service::service_headless(cluster),
    }
}
