//! Runs memcached on Kubernetes: the pure decisions, and the controller that puts them together.
//!
//! Watches, caches, flags, metrics and files to install are `kubewright`'s; nothing of that kind is here.

pub mod controller;
pub mod desired;
pub mod error;
mod events;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod invariants;
pub mod reconcile;
pub mod status;

use kubewright::Operator;

/// The image where neither the object nor the operator's environment names one.
pub const DEFAULT_IMAGE: &str = "docker.io/library/memcached:1.6.45";

/// The environment variable that names the image of objects that name none.
pub const IMAGE_VARIABLE: &str = "MEMCACHED_IMAGE";

/// What the program calls itself: `VERSION` of the build, else that of the crate.
const VERSION: &str = match option_env!("VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The operator, ready to run or to print what installing it takes.
pub fn operator() -> Operator {
    Operator::new("memcached-operator")
        .version(VERSION)
        .controller::<controller::Memcacheds>()
        .project(include_str!("../../../kubewright.toml"))
        .sample(include_str!("../../../deploy/samples/cache_v1alpha1_memcached.yaml"))
        .environment(IMAGE_VARIABLE, DEFAULT_IMAGE)
}
