//! What the API server is asked: whether it is ready, how the nodes are. Every
//! question has a deadline, because a paused component does not answer.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Node;
use kube::api::ListParams;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};

/// No question takes longer; a server that works answers in milliseconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// How to reach the API server of `kubeconfig`.
pub(super) async fn config(kubeconfig: &Path) -> anyhow::Result<Config> {
    let cannot = || format!("cannot use the kubeconfig {}", kubeconfig.display());
    let content = Kubeconfig::read_from(kubeconfig).with_context(cannot)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(content, &options).await;
    let mut config = config.with_context(cannot)?;
    config.proxy_url = None; // the server is on this machine, HTTPS_PROXY is for others
    config.default_retry = false;
    Ok(config)
}

/// A client with all rights.
pub(super) async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let config = config(kubeconfig).await?;
    Client::try_from(config).context("cannot make a client of the API server")
}

/// Succeeds if the API server says that it is ready.
pub(super) async fn ready(client: &Client) -> anyhow::Result<()> {
    let request = http::Request::get("/readyz").body(Vec::new())?;
    within_deadline(client.request_text(request)).await?;
    Ok(())
}

/// The nodes and how they are: `Ready`, or why not.
pub(super) async fn nodes(client: &Client) -> anyhow::Result<Vec<(String, String)>> {
    let api: Api<Node> = Api::all(client.clone());
    let list = within_deadline(api.list(&ListParams::default())).await?;
    let described = list.items.into_iter().map(|node| {
        let state = node_state(&node);
        (node.metadata.name.unwrap_or_default(), state)
    });
    Ok(described.collect())
}

/// `Ready`, or why not.
fn node_state(node: &Node) -> String {
    let conditions = node.status.iter().flat_map(|status| &status.conditions);
    let ready = conditions.flatten().find(|one| one.type_ == "Ready");
    match ready {
        None => "not Ready: it has not said anything yet".to_owned(),
        Some(condition) if condition.status == "True" => "Ready".to_owned(),
        Some(condition) => {
            let message = condition.message.as_deref().unwrap_or("no reason given");
            format!("not Ready: {message}")
        }
    }
}

async fn within_deadline<T>(
    answer: impl Future<Output = Result<T, kube::Error>>,
) -> anyhow::Result<T> {
    let answer = tokio::time::timeout(DEADLINE, answer).await;
    let answer = answer.with_context(|| {
        format!("the API server did not answer within {} s", DEADLINE.as_secs())
    })?;
    answer.context("the API server cannot be asked")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(conditions: &serde_json::Value) -> Node {
        let node = serde_json::json!({
            "metadata": { "name": "node-1" },
            "status": { "conditions": conditions },
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn a_node_is_ready_only_if_it_says_so() {
        let ready = serde_json::json!([
            { "type": "MemoryPressure", "status": "False" },
            { "type": "Ready", "status": "True" },
        ]);
        assert_eq!(node_state(&node(&ready)), "Ready");
        let unknown = serde_json::json!([
            { "type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status." },
        ]);
        assert_eq!(node_state(&node(&unknown)), "not Ready: Kubelet stopped posting node status.");
        assert!(node_state(&Node::default()).starts_with("not Ready"));
    }
}
