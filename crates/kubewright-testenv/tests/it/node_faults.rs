//! Faults of nodes: cut off, without power, drained, and back again.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_testenv::{Env, Node};
use serde_json::json;

use crate::fixtures::{kubectl, memcached, ready, until_restarted};

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
    until_restarted(&env, 1).await;
    // And once more, back before anybody noticed.
    node.power_off().await.unwrap();
    node.power_on().await.unwrap();
    until_restarted(&env, 2).await;
    assert_eq!(ready(&env, "cache").await.metadata.uid, before.metadata.uid);
}

#[kubewright_testenv::test(nodes = 2, own)]
async fn a_drained_node_gives_up_its_pods_unless_a_budget_forbids_it(env: Env) {
    let mut pod = memcached("cache", json!({}));
    pod.spec.as_mut().unwrap().node_name = Some("node-1".to_owned());
    env.create(pod).await;
    ready(&env, "cache").await;
    words(&env, "create poddisruptionbudget cache --selector=app=cache --min-available=1")
        .await
        .unwrap();
    env.eventually("the budget is known", async || {
        let healthy = words(&env, "get pdb cache -o jsonpath={.status.currentHealthy}").await?;
        if healthy == "1" { Ok(()) } else { Err(healthy) }
    })
    .await;
    let drain = "drain node-1 --force --pod-selector=app=cache";
    let error = words(&env, &format!("{drain} --timeout=5s")).await.unwrap_err();
    assert!(error.contains("disruption budget"), "{error}");
    words(&env, "delete pdb cache").await.unwrap();
    words(&env, &format!("{drain} --timeout=60s")).await.unwrap();
    assert!(env.api::<Pod>().get_opt("cache").await.unwrap().is_none());
}

async fn words(env: &Env, line: &str) -> Result<String, String> {
    kubectl(env, &line.split(' ').collect::<Vec<_>>()).await
}
