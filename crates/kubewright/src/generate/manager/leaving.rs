//! What lets the operator go before its roles do, where something deletes both in one breath: a Job that runs
//! its verb `leave`, and the one permission that this takes beyond the operator's own.

use serde_json::{Value, json};

use super::NAME_LABEL;
use crate::generate::rbac::rule;
use crate::generate::{Installation, manager_name, metadata};

/// Shorter than the five minutes that Helm waits: the Job says better than Helm what was wrong.
const PATIENCE: u32 = 240;

/// A Role, its binding, and the Job; none if no object waits for the operator. The Job's pod is that of
/// `deployment`, the operator's own.
pub fn leaving(installation: &Installation, deployment: &Value) -> Vec<Value> {
    let Installation { operator, namespace, finalizes, .. } = installation;
    if !finalizes {
        return Vec::new();
    }
    let name = format!("{operator}-leave");
    let metadata = metadata(operator, name.clone(), Some(namespace));
    let account = manager_name(operator);
    let mut own = rule("apps", "deployments", &["delete", "get"]);
    own.resource_names = Some(vec![account.clone()]);
    let group = "rbac.authorization.k8s.io";
    vec![
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "Role",
            "metadata": metadata, "rules": [own],
        }),
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        }),
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": metadata,
            "spec": {
                "activeDeadlineSeconds": PATIENCE,
                "backoffLimit": 3,
                "template": {
                    // Not the labels of the operator's pods: nothing is served here.
                    "metadata": {"labels": {NAME_LABEL: operator}},
                    "spec": pod(&deployment["spec"]["template"]["spec"]),
                },
            },
        }),
    ]
}

/// The operator's pod with another verb, which ends by itself.
fn pod(running: &Value) -> Value {
    let mut pod = running.clone();
    pod["restartPolicy"] = json!("Never");
    let container = &mut pod["containers"][0];
    container["args"][0] = json!("leave");
    if let Value::Object(container) = container {
        for only_while_it_runs in ["livenessProbe", "readinessProbe", "ports"] {
            container.remove(only_while_it_runs);
        }
    }
    pod
}
