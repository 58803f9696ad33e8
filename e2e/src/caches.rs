//! Objects for tests, and what is there for them: how many, since when, and until nothing is left.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt as _;
use kube::api::ListParams;
use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use serde_json::json;

use crate::kubectl::kubectl;

/// How often something is tried: `few` times, or `many` with `KUBEWRIGHT_LONG`.
pub fn repeats(few: usize, many: usize) -> usize {
    if std::env::var_os("KUBEWRIGHT_LONG").is_some() { many } else { few }
}

/// A cache with so many instances.
///
/// # Panics
/// If the kind has changed.
pub fn memcached(name: &str, size: i32) -> Memcached {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": name}, "spec": {"size": size},
    });
    serde_json::from_value(object).unwrap_or_else(|error| panic!("no Memcached: {error}"))
}

/// What tells whether a child was written to: its uid, its generation, and of a Service, which nobody else
/// writes to, its version too.
pub type Children = BTreeMap<String, (String, i64, String)>;

/// The children in the test's namespace, by kind and name.
///
/// # Panics
/// If the API server does not answer.
pub async fn children(env: &Env) -> Children {
    let all = ListParams::default();
    let deployments = env.api::<Deployment>().list(&all).await;
    let deployments = deployments.unwrap_or_else(|error| panic!("no Deployments: {error}"));
    let services = env.api::<Service>().list(&all).await;
    let services = services.unwrap_or_else(|error| panic!("no Services: {error}"));
    let deployments = deployments.items.into_iter().map(|object| {
        let generation = object.metadata.generation.unwrap_or_default();
        let state = (object.uid().unwrap_or_default(), generation, String::new());
        (format!("deployment/{}", object.name_any()), state)
    });
    let services = services.items.into_iter().map(|object| {
        let version = object.resource_version().unwrap_or_default();
        (format!("service/{}", object.name_any()), (object.uid().unwrap_or_default(), 0, version))
    });
    deployments.chain(services).collect()
}

/// Waits until kubectl finds none of `what`, such as `memcacheds,pods`.
pub async fn until_none(env: &Env, what: &str) {
    let question = format!("get {what} -o name --ignore-not-found");
    env.eventually(&format!("no {what} are left"), async || {
        let left = kubectl(env, &question);
        if left.is_empty() { Ok(()) } else { Err(left) }
    })
    .await;
}

/// Waits until what `look` gives has not changed for `time`, and gives it.
pub async fn settled<T: PartialEq>(time: Duration, mut look: impl FnMut() -> T) -> T {
    let mut last = look();
    let mut since = Instant::now();
    while since.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = look();
        if now != last {
            last = now;
            since = Instant::now();
        }
    }
    last
}
