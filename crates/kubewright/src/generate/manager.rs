//! What an operator runs as: its namespace, its Deployment, and what surrounds that.

mod deployment;
mod disruption_budget;
mod leaving;
mod metrics;
mod namespace;
mod network_policy;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

pub use deployment::deployment;
pub use disruption_budget::disruption_budget;
pub use leaving::leaving;
pub use metrics::{metrics_service, service_monitor};
pub use namespace::namespace;
pub use network_policy::network_policy;

pub(super) use metrics::{metrics_argument, metrics_opening, metrics_port};

use super::{Installation, NAME_LABEL};

/// Where the kubelet asks how the operator is.
const HEALTH_PORT: u16 = 8081;

/// All of it, in the order in which it is to be applied.
pub fn manager(installation: &Installation) -> Vec<Value> {
    let mut objects: Vec<_> = namespace(installation).into_iter().collect();
    objects.push(network_policy(installation));
    objects.push(disruption_budget(installation));
    #[cfg(feature = "webhook")]
    objects.extend(super::webhook::objects(installation));
    objects.push(deployment(installation));
    objects
}

/// By which the operator's pods are found.
pub(super) fn pod_labels(operator: &str) -> Value {
    json!({NAME_LABEL: operator, "control-plane": "controller-manager"})
}
