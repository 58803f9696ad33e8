//! The operator's namespace.

use serde_json::{Value, json};

use crate::generate::{Installation, NAME_LABEL, own_namespace};

/// The namespace that is the operator's own, in which only restricted pods may run.
///
/// None if the operator runs in a namespace of another name. That is somebody else's: installing must
/// not restrict the pods that are there, and uninstalling must not delete it.
pub fn namespace(installation: &Installation) -> Option<Value> {
    let Installation { operator, namespace, .. } = installation;
    let labels = json!({
        NAME_LABEL: operator,
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
    });
    (*namespace == own_namespace(operator)).then(|| {
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "labels": labels},
        })
    })
}
