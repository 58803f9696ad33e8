//! Who may speak to the operator.

use serde_json::{Value, json};

use super::{HEALTH_PORT, pod_labels};
use crate::generate::{Installation, manager_name, metadata};

/// Only the port of the probes can be reached, and that of the webhooks if there are some.
///
/// What the operator reaches is left open on purpose: a policy is applied to the address behind the Service
/// `kubernetes`, and an API server may listen at any address and port (443, 6443, 8443, 16443, …).
/// Naming some of them would break the installation on the other clusters.
pub fn network_policy(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    let ports = [json!({"protocol": "TCP", "port": HEALTH_PORT})];
    #[cfg(feature = "webhook")]
    let webhooks = (!installation.webhooks.is_empty()).then(crate::generate::webhook::opening);
    #[cfg(not(feature = "webhook"))]
    let webhooks = None;
    let ports: Vec<_> = ports.into_iter().chain(webhooks).collect();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(operator, manager_name(operator), Some(namespace)),
        "spec": {
            "podSelector": {"matchLabels": pod_labels(operator)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": ports}],
        },
    })
}
