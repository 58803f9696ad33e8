//! The operator's Deployment.

use serde_json::{Value, json};

use super::{HEALTH_PORT, pod_labels};
use crate::generate::rbac::Scope;
#[cfg(feature = "webhook")]
use crate::generate::webhook;
use crate::generate::{Installation, manager_name, metadata};

/// One replica, which may do nothing on its node that it does not need.
pub fn deployment(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    let name = manager_name(operator);
    let labels = pod_labels(operator);
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(operator, name.clone(), Some(namespace)),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {
                    "annotations": {"kubectl.kubernetes.io/default-container": "manager"},
                    "labels": labels,
                },
                "spec": {
                    "containers": [container(installation)],
                    "securityContext": {
                        "runAsNonRoot": true,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "serviceAccountName": name,
                    // A pass has 30 s to end, and events are written after that.
                    "terminationGracePeriodSeconds": 60,
                },
            },
        },
    });
    deployment["metadata"]["labels"]["control-plane"] = json!("controller-manager");
    deployment
}

fn container(installation: &Installation) -> Value {
    let ports = [json!({"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"})];
    #[cfg(feature = "webhook")]
    let webhooks = (!installation.webhooks.is_empty()).then(webhook::container_port);
    #[cfg(not(feature = "webhook"))]
    let webhooks = None;
    let ports: Vec<_> = ports.into_iter().chain(webhooks).collect();
    json!({
        "name": "manager",
        "image": installation.image,
        // Also for `latest`: an image that was loaded into a node is not asked for elsewhere.
        "imagePullPolicy": "IfNotPresent",
        "args": ["run", "--leader-elect", format!("--health-probe-bind-address=:{HEALTH_PORT}")],
        "env": environment(installation),
        "ports": ports,
        "livenessProbe": probe("/healthz", 15, 20),
        "readinessProbe": probe("/readyz", 1, 5),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
            "runAsGroup": 65532,
            "runAsUser": 65532,
        },
    })
}

fn environment(installation: &Installation) -> Vec<Value> {
    let Installation { operator, environment, namespace, scope, .. } = installation;
    let mut variables = vec![json!({"name": "OWN_DEPLOYMENT", "value": manager_name(operator)})];
    match scope {
        Scope::Cluster => {}
        Scope::Namespaces(namespaces) if namespaces[..] == [namespace.clone()] => {
            let own = json!({"fieldRef": {"fieldPath": "metadata.namespace"}});
            variables.push(json!({"name": "WATCH_NAMESPACE", "valueFrom": own}));
        }
        Scope::Namespaces(namespaces) => {
            variables.push(json!({"name": "WATCH_NAMESPACE", "value": namespaces.join(",")}));
        }
    }
    let own = environment.iter().map(|(name, value)| json!({"name": name, "value": value}));
    variables.extend(own);
    variables
}

fn probe(path: &str, delay: u32, period: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": "health"},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
    })
}
