//! A change of the image: one instance at a time, never more than were asked for, and undone by undoing it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::TryStreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kubewright_testenv::Env;
use memcached_e2e::conditions::{manifest, until_condition};
use memcached_e2e::deployed::{deployed, nothing_was_forbidden, until_ready};
use memcached_e2e::kubectl::{apply, kubectl};
use memcached_e2e::servers::{set_and_get, version};
use serde_json::json;

const OLDER: &str = "docker.io/library/memcached:1.6.38";
const NEWER: &str = "docker.io/library/memcached:1.6.45";
const NONE: &str = "docker.io/library/none:1";

fn set_image(env: &Env, image: &str) {
    let patch = json!({"spec": {"image": image}});
    kubectl(env, &format!("patch memcached rolled --type=merge -p {patch}"));
}

/// Watches the pods of the test from `version` on, and keeps how many there were that were not going.
async fn count_pods(env: &Env, version: &str, living: BTreeSet<String>, counts: &mut Vec<usize>) {
    let mut living = living;
    let stream = env.api::<Pod>().watch(&WatchParams::default(), version).await.unwrap();
    let mut stream = std::pin::pin!(stream);
    while let Some(event) = stream.try_next().await.unwrap() {
        match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) if is_living(&pod) => {
                living.insert(pod.name_any());
            }
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) | WatchEvent::Deleted(pod) => {
                living.remove(&pod.name_any());
            }
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(error) => panic!("the watch ended: {error}"),
        }
        counts.push(living.len());
    }
}

fn is_living(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

/// How many servers there are of each version.
async fn versions(env: &Env) -> BTreeMap<String, usize> {
    let mut versions = BTreeMap::new();
    for server in set_and_get(env, "rolled").await {
        *versions.entry(version(&server).await).or_default() += 1;
    }
    versions
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_change_of_the_image_replaces_one_instance_at_a_time(env: Env) {
    deployed(&env).await;
    apply(&env, &manifest("rolled", json!({"size": 3, "image": OLDER})));
    until_ready(&env, "rolled", 3).await;
    assert_eq!(versions(&env).await, BTreeMap::from([("1.6.38".to_owned(), 3)]));

    let pods = env.api::<Pod>().list(&ListParams::default()).await.unwrap();
    let before: BTreeSet<_> = pods.items.iter().map(ResourceExt::name_any).collect();
    let from = pods.metadata.resource_version.unwrap();
    let mut counts = Vec::new();
    set_image(&env, NEWER);
    let after = tokio::select! {
        after = until_ready(&env, "rolled", 3) => after,
        () = count_pods(&env, &from, before.clone(), &mut counts) => panic!("the watch ended"),
    };
    assert_eq!(versions(&env).await, BTreeMap::from([("1.6.45".to_owned(), 3)]));
    let after: BTreeSet<_> = after.status.unwrap().nodes.unwrap().into_iter().collect();
    assert!(before.is_disjoint(&after), "{before:?} {after:?}");
    assert!(counts.len() > 6, "too little was seen: {counts:?}");
    assert!(counts.iter().all(|count| (2..=3).contains(count)), "{counts:?}");
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn an_image_that_is_not_there_costs_one_instance_and_is_named_until_it_is_put_right(
    env: Env,
) {
    deployed(&env).await;
    apply(&env, &manifest("rolled", json!({"size": 3, "image": OLDER})));
    let before = until_ready(&env, "rolled", 3).await;
    let before: BTreeSet<_> = before.status.unwrap().nodes.unwrap().into_iter().collect();

    set_image(&env, NONE);
    let failing = ("Degraded", "True", "PodFailing");
    let (memcached, message) = until_condition(&env, "rolled", failing).await;
    assert!(message.contains(NONE), "{message}");
    let named = memcached.status.unwrap().nodes.unwrap();
    let new: Vec<_> = named.iter().filter(|name| !before.contains(*name)).collect();
    assert!(new.iter().any(|name| message.contains(*name)), "{message} names none of {new:?}");
    until_condition(&env, "rolled", ("Available", "False", "NotReady")).await;
    assert_eq!(versions(&env).await, BTreeMap::from([("1.6.38".to_owned(), 2)]), "two go on");

    set_image(&env, NEWER);
    until_ready(&env, "rolled", 3).await;
    until_condition(&env, "rolled", ("Degraded", "False", "AsExpected")).await;
    assert_eq!(versions(&env).await, BTreeMap::from([("1.6.45".to_owned(), 3)]));
    nothing_was_forbidden(&env);
}
