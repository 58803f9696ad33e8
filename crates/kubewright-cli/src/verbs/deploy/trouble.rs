//! Why a Deployment does not come up, in words of what to do: a container that cannot start, or pods
//! that may not be made. Looks only.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::{ListParams, LogParams};
use kube::{Api, Client, ResourceExt as _};

/// What a container waits for that is no trouble.
const USUAL: [&str; 2] = ["ContainerCreating", "PodInitializing"];
const LOG_LINES: i64 = 10;
/// For the log of a container; a node that does not answer must not hold up the explanation.
const LOG_LIMIT: Duration = Duration::from_secs(5);

/// What stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    reason: String,
    message: String,
    pod: Option<String>,
}

impl Trouble {
    /// In one line.
    fn line(&self) -> String {
        format!("{}: {}", self.reason, self.message)
    }

    /// The same for the same trouble, though the words differ (`back-off 20s`, `back-off 40s`) or the
    /// turn (an image that cannot be pulled is `ErrImagePull` and `ImagePullBackOff` by turns).
    pub(super) fn class(&self) -> &str {
        if self.is_about_the_image() { "the image cannot be pulled" } else { &self.reason }
    }

    fn is_about_the_image(&self) -> bool {
        self.reason.contains("Image")
    }

    /// What to do about it.
    fn advice(&self, image: &str, namespace: &str) -> String {
        if self.is_about_the_image() {
            return format!(
                "the nodes cannot get {image}: `kubewright image load {image}` gives it to the local \
                 Kubernetes, `kubewright image push {image}` to its registry"
            );
        }
        let pod = self.pod.as_deref();
        let command = pod.map_or_else(
            || format!("kubectl get events --namespace {namespace}"),
            |pod| format!("kubectl describe pod {pod} --namespace {namespace}"),
        );
        format!("`{command}` tells more")
    }
}

/// What stands in the way of `deployment` at the moment, if something does.
pub(super) async fn look(
    client: &Client,
    deployment: &Deployment,
) -> anyhow::Result<Option<Trouble>> {
    if let Some(refused) = refused(deployment) {
        return Ok(Some(refused));
    }
    let labels = deployment.spec.as_ref().and_then(|spec| spec.selector.match_labels.as_ref());
    let labels = labels.into_iter().flatten().map(|(name, value)| format!("{name}={value}"));
    let selector = labels.collect::<Vec<_>>().join(",");
    let pods = pods(client, deployment).list(&ListParams::default().labels(&selector)).await;
    let mut pods = pods.context("cannot look at the operator's pods")?.items;
    pods.retain(|pod| pod.metadata.deletion_timestamp.is_none());
    // The youngest is of the newest template.
    pods.sort_by_key(|pod| std::cmp::Reverse(pod.creation_timestamp().map(|time| time.0)));
    Ok(pods.first().and_then(in_pod))
}

/// Pods that may not be made at all.
fn refused(deployment: &Deployment) -> Option<Trouble> {
    let conditions = deployment.status.as_ref()?.conditions.as_ref()?;
    let refused =
        conditions.iter().find(|one| one.type_ == "ReplicaFailure" && one.status == "True")?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(Trouble { reason: text(&refused.reason), message: text(&refused.message), pod: None })
}

fn in_pod(pod: &Pod) -> Option<Trouble> {
    let status = pod.status.as_ref()?;
    let name = Some(pod.name_any());
    let waiting = status.container_statuses.iter().flatten().find_map(waiting);
    if let Some((reason, message)) = waiting {
        return Some(Trouble { reason, message, pod: name });
    }
    let scheduled = status.conditions.iter().flatten().find(|one| one.type_ == "PodScheduled")?;
    let reason = scheduled.reason.clone().filter(|_| scheduled.status == "False")?;
    Some(Trouble { reason, message: scheduled.message.clone().unwrap_or_default(), pod: name })
}

fn waiting(container: &ContainerStatus) -> Option<(String, String)> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.clone().filter(|reason| !USUAL.contains(&reason.as_str()))?;
    Some((reason, waiting.message.clone().unwrap_or_default()))
}

/// All that is known, as the error that ends the wait.
pub(super) async fn explain(
    client: &Client,
    deployment: &Deployment,
    trouble: Option<Trouble>,
    image: &str,
) -> anyhow::Error {
    let (name, namespace) = (deployment.name_any(), deployment.namespace().unwrap_or_default());
    let Some(trouble) = trouble else {
        return anyhow::anyhow!(
            "deployment/{name} does not become available: \
             `kubectl describe deployment {name} --namespace {namespace}` tells more"
        );
    };
    let mut lines =
        vec![format!("deployment/{name} does not become available: {}", trouble.line())];
    if let Some(pod) = &trouble.pod {
        let api = pods(client, deployment);
        let said = log(&api, pod).await;
        lines.extend(said.lines().map(|line| format!("  | {line}")));
    }
    lines.push(trouble.advice(image, &namespace));
    anyhow::Error::msg(lines.join("\n"))
}

/// The last words of the operator's container, of this one or the one before; nothing if it said none.
async fn log(api: &Api<Pod>, pod: &str) -> String {
    for previous in [true, false] {
        let parameters =
            LogParams { previous, tail_lines: Some(LOG_LINES), ..LogParams::default() };
        let said = tokio::time::timeout(LOG_LIMIT, api.logs(pod, &parameters)).await;
        if let Ok(Ok(said)) = said
            && !said.is_empty()
        {
            return said;
        }
    }
    String::new()
}

fn pods(client: &Client, deployment: &Deployment) -> Api<Pod> {
    Api::namespaced(client.clone(), &deployment.namespace().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trouble(state: &serde_json::Value) -> Option<Trouble> {
        let container = json!({
            "name": "manager", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": state,
        });
        let pod = json!({
            "metadata": { "name": "a" },
            "status": { "containerStatuses": [container] },
        });
        in_pod(&serde_json::from_value(pod).unwrap())
    }

    #[test]
    fn an_image_that_cannot_be_had_is_one_trouble_whatever_it_is_called() {
        let [first, second] = ["ErrImagePull", "ImagePullBackOff"]
            .map(|reason| trouble(&json!({ "waiting": { "reason": reason } })).unwrap());
        assert_eq!(first.class(), second.class());
        let advice = first.advice("a:1", "system");
        assert!(advice.contains("`kubewright image load a:1`"), "{advice}");
    }

    #[test]
    fn a_container_that_starts_or_runs_is_no_trouble() {
        assert_eq!(trouble(&json!({ "waiting": { "reason": "ContainerCreating" } })), None);
        assert_eq!(trouble(&json!({ "running": {} })), None);
    }

    #[test]
    fn a_pod_without_a_node_is_told_in_the_scheduler_s_words() {
        let pod = json!({ "metadata": { "name": "a" }, "status": { "conditions": [{
            "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available",
        }]}});
        let trouble = in_pod(&serde_json::from_value(pod).unwrap()).unwrap();
        assert_eq!(trouble.line(), "Unschedulable: 0/1 nodes are available");
    }
}
