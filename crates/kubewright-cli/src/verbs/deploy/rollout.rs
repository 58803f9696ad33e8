//! Waits until a Deployment is what it is to be: all replicas new and available. Tells what it waits
//! for, and gives up when nothing can come of it.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client};
use kubewright_testenv::progress::{Progress, elapsed};
use serde::Serialize;
use serde_json::Value;

use super::trouble::{self, Trouble};

/// Longer than an image takes over a slow line.
const LIMIT: Duration = Duration::from_mins(5);
/// Trouble that lasts this long does not go away by itself.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(200);

/// An operator that runs.
#[derive(Debug, Serialize)]
pub(super) struct Running {
    /// Where.
    pub(super) namespace: String,
    deployment: String,
    image: String,
    /// How many pods are.
    ready: i32,
}

/// Waits for `deployment`, whose pods are of `image`.
pub(super) async fn wait(
    client: &Client,
    deployment: &Value,
    image: &str,
) -> anyhow::Result<Running> {
    let text = |field: &str| deployment["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let api: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let (begun, mut told) = (Instant::now(), String::new());
    let mut troubled: Option<(Trouble, Instant)> = None;
    loop {
        let found = api.get(&name).await;
        let found = found.with_context(|| format!("cannot look at the Deployment {name}"))?;
        let Some(waiting) = waiting_for(&found) else {
            let took = elapsed(begun.elapsed());
            Progress::Shown.note(&format!("deployment/{name} is available: {took}"));
            let ready = found.status.and_then(|status| status.ready_replicas).unwrap_or_default();
            return Ok(Running { namespace, deployment: name, image: image.to_owned(), ready });
        };
        let trouble = trouble::look(client, &found).await?;
        let line = trouble.as_ref().map_or(waiting, |trouble| trouble.class().to_owned());
        if line != told {
            Progress::Shown.note(&format!("waiting for deployment/{name}: {line}"));
            told = line;
        }
        // What crashes runs for a moment now and then, and is the same trouble afterwards.
        let now = trouble.clone().map(|now| match troubled.take() {
            Some((before, since)) if before.class() == now.class() => (now, since),
            _ => (now, Instant::now()),
        });
        let is_hopeless = now.as_ref().is_some_and(|(_, since)| since.elapsed() > PATIENCE);
        if is_hopeless || begun.elapsed() > LIMIT {
            return Err(trouble::explain(client, &found, trouble, image).await);
        }
        troubled = now.or(troubled);
        tokio::time::sleep(LOOK).await;
    }
}

/// What is missing; none if nothing is.
fn waiting_for(deployment: &Deployment) -> Option<String> {
    let status = deployment.status.clone().unwrap_or_default();
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    if status.observed_generation < deployment.metadata.generation {
        return Some("the change is not seen yet".to_owned());
    }
    let (updated, all) =
        (status.updated_replicas.unwrap_or_default(), status.replicas.unwrap_or_default());
    let available = status.available_replicas.unwrap_or_default();
    let unavailable = status.unavailable_replicas.unwrap_or_default();
    if updated < wanted {
        Some(format!("{updated} of {wanted} pods are new"))
    } else if unavailable > 0 || available < wanted {
        let ready = (wanted - unavailable.max(1)).max(0);
        Some(format!("{ready} of {wanted} pods are ready"))
    } else if all > updated {
        Some(format!("{} old pods end", all - updated))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waits(status: &Value) -> Option<String> {
        let deployment = json!({
            "metadata": { "generation": 2 },
            "spec": { "replicas": 1, "selector": {}, "template": {} },
            "status": status,
        });
        waiting_for(&serde_json::from_value(deployment).unwrap())
    }

    #[test]
    fn a_deployment_is_waited_for_until_all_pods_are_new_and_available() {
        let states = [
            (json!({}), "the change is not seen yet"),
            (
                json!({ "observedGeneration": 1, "availableReplicas": 1 }),
                "the change is not seen yet",
            ),
            (json!({ "observedGeneration": 2, "replicas": 1 }), "0 of 1 pods are new"),
            (
                json!({
                    "observedGeneration": 2, "replicas": 2, "updatedReplicas": 1,
                    "availableReplicas": 1, "unavailableReplicas": 1,
                }),
                "0 of 1 pods are ready",
            ),
            (
                json!({
                    "observedGeneration": 2, "replicas": 2, "updatedReplicas": 1,
                    "availableReplicas": 2,
                }),
                "1 old pods end",
            ),
            (
                json!({ "observedGeneration": 2, "replicas": 1, "updatedReplicas": 1 }),
                "0 of 1 pods are ready",
            ),
        ];
        for (status, expected) in states {
            assert_eq!(waits(&status).as_deref(), Some(expected));
        }
        let done = json!({
            "observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1,
        });
        assert_eq!(waits(&done), None);
    }
}
