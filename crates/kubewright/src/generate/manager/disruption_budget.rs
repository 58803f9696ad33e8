//! How many of the operator's pods may be evicted at a time.

use serde_json::{Value, json};

use super::pod_labels;
use crate::generate::{Installation, manager_name, metadata};

/// One at a time: of several replicas one is always there to take over, and a single one never holds up
/// the drain of a node.
pub fn disruption_budget(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(operator, manager_name(operator), Some(namespace)),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": pod_labels(operator)},
        },
    })
}
