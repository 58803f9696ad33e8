//! Faults of nodes: cut off, without power, drained, and back again.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_testenv::{Env, Node};
use serde_json::json;

use crate::fixtures::{kubectl, memcached, ready};

const LIMIT: Duration = Duration::from_mins(1);

async fn until_lost(env: &Env, node: &Node) {
    env.environment().until_node(node.name(), false, LIMIT).await.unwrap();
}

async fn until_found(env: &Env, node: &Node) {
    env.environment().until_node(node.name(), true, LIMIT).await.unwrap();
}

#[kubewright_testenv::test(nodes = 2, own)]
async fn a_node_is_lost_and_found_by_partition_and_by_its_kubelet(env: Env) {
    let node = &env.environment().nodes()[1];
    node.partition().await.unwrap();
    until_lost(&env, node).await;
    node.heal().await.unwrap();
    until_found(&env, node).await;

    let kubelet = node.kubelet().unwrap();
    kubelet.pause();
    until_lost(&env, node).await;
    kubelet.resume();
    until_found(&env, node).await;
    kubelet.kill().await.unwrap();
    assert!(!kubelet.is_running());
    kubelet.start().unwrap();
    until_found(&env, node).await;
}

#[kubewright_testenv::test(nodes = 2, own)]
async fn a_node_whose_power_was_cut_comes_back_with_its_pods(env: Env) {
    let node = &env.environment().nodes()[1];
    let mut pod = memcached("cache", json!({}));
    pod.spec.as_mut().unwrap().node_name = Some(node.name().to_owned());
    env.create(pod).await;
    let before = ready(&env, "cache").await;
    node.power_off().await.unwrap();
    until_lost(&env, node).await;
    node.power_on().await.unwrap();
    until_found(&env, node).await;
    env.eventually("the pod runs again", async || {
        let pod = env.api::<Pod>().get("cache").await.map_err(|error| error.to_string())?;
        let statuses = pod.status.and_then(|status| status.container_statuses).unwrap_or_default();
        let back = statuses.iter().any(|one| one.restart_count > 0 && one.ready);
        if back { Ok(()) } else { Err(format!("{statuses:?}")) }
    })
    .await;
    assert_eq!(ready(&env, "cache").await.metadata.uid, before.metadata.uid);
}

#[kubewright_testenv::test(nodes = 2, own)]
async fn a_drained_node_gives_up_its_pods_unless_a_budget_forbids_it(env: Env) {
    let mut pod = memcached("cache", json!({}));
    pod.spec.as_mut().unwrap().node_name = Some("node-1".to_owned());
    env.create(pod).await;
    ready(&env, "cache").await;
    kubectl(
        &env,
        &["create", "poddisruptionbudget", "cache", "--selector=app=cache", "--min-available=1"],
    )
    .await
    .unwrap();
    env.eventually("the budget is known", async || {
        let allowed =
            kubectl(&env, &["get", "pdb", "cache", "-o", "jsonpath={.status.currentHealthy}"])
                .await?;
        if allowed == "1" { Ok(()) } else { Err(allowed) }
    })
    .await;
    let drain = [
        "drain",
        "node-1",
        "--force",
        "--ignore-daemonsets",
        "--delete-emptydir-data",
        "--timeout=5s",
    ];
    let selector = [&drain[..], &["--pod-selector=app=cache"]].concat();
    let error = kubectl(&env, &selector).await.unwrap_err();
    assert!(error.contains("disruption budget"), "{error}");
    kubectl(&env, &["delete", "pdb", "cache"]).await.unwrap();
    let drain =
        drain.map(|word| if word.starts_with("--timeout") { "--timeout=60s" } else { word });
    kubectl(&env, &[&drain[..], &["--pod-selector=app=cache"]].concat()).await.unwrap();
    assert!(env.api::<Pod>().get_opt("cache").await.unwrap().is_none());
}
