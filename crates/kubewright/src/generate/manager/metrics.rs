//! The operator's metrics, where they are wanted: the flag and the port that turn them on, and what Prometheus
//! finds them by.

use serde_json::{Value, json};

use super::pod_labels;
use crate::generate::{Installation, manager_name, metadata};

const PORT: u16 = 8080;

/// The flag that turns them on.
pub(in crate::generate) fn metrics_argument() -> String {
    format!("--metrics-bind-address=:{PORT}")
}

/// The port of the container.
pub(in crate::generate) fn metrics_port() -> Value {
    json!({"name": "metrics", "containerPort": PORT, "protocol": "TCP"})
}

/// Who may reach the operator's probes may reach its metrics then: one more port of the policy.
pub(in crate::generate) fn metrics_opening() -> Value {
    json!({"protocol": "TCP", "port": PORT})
}

/// The Service in front of all replicas, leading or not.
pub fn metrics_service(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    let mut service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(operator, service_name(operator), Some(namespace)),
        "spec": {
            "ports": [{"name": "metrics", "port": PORT, "protocol": "TCP", "targetPort": "metrics"}],
            "selector": pod_labels(operator),
        },
    });
    service["metadata"]["labels"]["control-plane"] = json!("controller-manager");
    service
}

/// What tells the Prometheus Operator of that Service.
pub fn service_monitor(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata(operator, service_name(operator), Some(namespace)),
        "spec": {
            "endpoints": [{"path": "/metrics", "port": "metrics"}],
            "selector": {"matchLabels": pod_labels(operator)},
        },
    })
}

fn service_name(operator: &str) -> String {
    format!("{}-metrics", manager_name(operator))
}
