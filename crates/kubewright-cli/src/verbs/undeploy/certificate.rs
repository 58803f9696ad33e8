//! The certificate of the operator's webhooks: the operator has made the Secret itself, so no manifest names it.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

/// Only a Secret that an operator made has it.
const RENEW_AFTER: &str = "kubewright.dev/renew-after";

/// The Secrets in `namespace` that the operator has made.
pub(super) async fn made_by(
    client: &Client,
    operator: &str,
    namespace: &str,
) -> anyhow::Result<Vec<Value>> {
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let labelled = ListParams::default().labels(&format!("app.kubernetes.io/name={operator}"));
    let secrets = api.list_metadata(&labelled).await;
    let secrets = secrets
        .with_context(|| format!("cannot look for certificates in namespace {namespace}"))?;
    let made = secrets.items.iter().filter(|secret| secret.annotations().contains_key(RENEW_AFTER));
    let document = |name: String| {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
        })
    };
    Ok(made.map(|secret| document(secret.name_any())).collect())
}
