//! The objects of a kind that goes: deleted while their operator still runs, so that it can do its work.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, ListParams, PartialObjectMeta};
use kube::core::ApiResource;
use kube::{Api, Client, Error, ResourceExt as _};
use kubewright::cluster;
use kubewright_testenv::progress::{Progress, elapsed};
use serde_json::Value;

use super::{PATIENCE, POLL, free};
use crate::olm::objects::Objects;

type Meta = PartialObjectMeta<DynamicObject>;

/// Who lets objects go, and how long that may take.
pub(super) struct Operator<'a> {
    pub(super) within: Objects,
    pub(super) releases: &'a [Value],
    pub(super) limit: Duration,
}

impl Operator<'_> {
    /// True if one of its pods works.
    async fn is_alive(&self) -> anyhow::Result<bool> {
        for release in self.releases {
            let pods = self.within.operator(release).await;
            if pods.context("cannot look at the operator's pods")?.iter().any(is_ready) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Deletes all objects of the definition called `name`, if it is there, and frees those that nobody frees.
pub(super) async fn remove(
    client: &Client,
    name: &str,
    operator: &Operator<'_>,
) -> anyhow::Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = match definitions.get(name).await {
        Err(Error::Api(status)) if status.code == 404 => return Ok(()),
        found => found.with_context(|| format!("cannot look at the definition {name}"))?,
    };
    let Some(kind) = cluster::served(&definition) else { return Ok(()) };
    let cannot = || format!("cannot delete all {name}");
    let found = list(client, &kind).await.with_context(cannot)?;
    for object in &found {
        delete(client, &kind, object).await.with_context(cannot)?;
    }
    let (mut since, mut fewest, mut told) = (Instant::now(), found.len(), Duration::ZERO);
    loop {
        let left = list(client, &kind).await.with_context(cannot)?;
        if left.is_empty() {
            return Ok(());
        }
        if left.len() < fewest {
            (fewest, since, told) = (left.len(), Instant::now(), Duration::ZERO);
        }
        let silent = since.elapsed();
        if silent > PATIENCE.min(operator.limit) {
            let is_alive = operator.is_alive().await?;
            if is_hopeless(silent, is_alive, operator.limit) {
                return free_all(client, &kind, &left, silent).await;
            }
            if silent.saturating_sub(told) > PATIENCE {
                told = silent;
                Progress::Shown.note(&waiting(name, left.len(), silent));
            }
        }
        tokio::time::sleep(POLL).await;
    }
}

/// True if objects that are as they were for so long wait for somebody who does not come. Who works may need longer.
fn is_hopeless(silent: Duration, is_alive: bool, limit: Duration) -> bool {
    silent > if is_alive { limit } else { PATIENCE.min(limit) }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ready = conditions.filter(|one| one.type_ == "Ready" && one.status == "True");
    pod.metadata.deletion_timestamp.is_none() && ready.next().is_some()
}

fn waiting(name: &str, left: usize, silent: Duration) -> String {
    let lasted = elapsed(silent);
    format!(
        "waiting for {left} of {name}: the operator runs, and lets none of them go (for {lasted})"
    )
}

/// The definition goes next, and waits for them.
async fn free_all(
    client: &Client,
    kind: &ApiResource,
    objects: &[Meta],
    silent: Duration,
) -> anyhow::Result<()> {
    for object in objects {
        let api = api(client, kind, object);
        free(&api, kind, &object.name_any(), object.finalizers(), silent).await?;
    }
    Ok(())
}

async fn list(client: &Client, kind: &ApiResource) -> Result<Vec<Meta>, Error> {
    let api = Objects::everywhere(client).api(kind);
    match api.list_metadata(&ListParams::default()).await {
        Ok(list) => Ok(list.items),
        Err(Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

async fn delete(client: &Client, kind: &ApiResource, object: &Meta) -> Result<(), Error> {
    let api = api(client, kind, object);
    match api.delete(&object.name_any(), &DeleteParams::foreground()).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error),
    }
}

fn api(client: &Client, kind: &ApiResource, object: &Meta) -> Api<DynamicObject> {
    match object.namespace() {
        Some(namespace) => Objects::within(client, &namespace).api(kind),
        None => Objects::everywhere(client).api(kind),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operator_that_works_has_all_the_time_that_is_given() {
        let [half, minute, hour] = [30, 60, 3600].map(Duration::from_secs);
        assert!(is_hopeless(minute, false, hour), "nobody is there");
        assert!(!is_hopeless(minute, true, hour), "it works");
        assert!(is_hopeless(hour + half, true, hour));
        assert!(is_hopeless(half, false, Duration::from_secs(1)), "no longer than was said");
    }

    #[test]
    fn only_a_ready_pod_that_stays_does_work() {
        let pod = |status: &str, deleted: Option<&str>| {
            let conditions = json!([{ "type": "Ready", "status": status }]);
            let metadata = json!({ "deletionTimestamp": deleted });
            let pod = json!({ "metadata": metadata, "status": { "conditions": conditions } });
            serde_json::from_value(pod).unwrap()
        };
        assert!(is_ready(&pod("True", None)));
        assert!(!is_ready(&pod("False", None)) && !is_ready(&Pod::default()));
        assert!(!is_ready(&pod("True", Some("2026-01-01T00:00:00Z"))));
    }
}
