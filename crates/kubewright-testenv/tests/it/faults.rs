//! Faults of the control plane: each part stops, halts, dies and comes back as it was.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_testenv::Env;

use crate::fixtures::config_map;

#[kubewright_testenv::test(own)]
async fn a_killed_api_server_comes_back_on_its_address_with_its_objects(env: Env) {
    env.create(config_map("kept")).await;
    let environment = env.environment();
    environment.apiserver().kill().await.unwrap();
    env.api::<ConfigMap>().get("kept").await.unwrap_err();
    environment.apiserver().start().unwrap();
    environment.until_ready().await.unwrap();
    env.api::<ConfigMap>().get("kept").await.unwrap();
}

#[kubewright_testenv::test(own)]
async fn a_killed_etcd_keeps_what_was_written(env: Env) {
    env.create(config_map("kept")).await;
    let environment = env.environment();
    environment.etcd().kill().await.unwrap();
    environment.etcd().start().unwrap();
    env.eventually("the object is served again", async || {
        env.api::<ConfigMap>().get("kept").await.map_err(|error| error.to_string())
    })
    .await;
}

#[kubewright_testenv::test(own)]
async fn a_paused_api_server_answers_nobody_and_goes_on_when_resumed(env: Env) {
    let apiserver = env.environment().apiserver();
    let before = apiserver.id();
    apiserver.pause();
    let client = env.client();
    let request = tokio::time::timeout(Duration::from_secs(1), client.apiserver_version());
    assert!(request.await.is_err(), "a paused API server answered");
    apiserver.resume();
    client.apiserver_version().await.unwrap();
    assert_eq!(apiserver.id(), before);
}

#[kubewright_testenv::test(own)]
async fn a_stopped_component_ends_and_restarts_in_order(env: Env) {
    let etcd = env.environment().etcd();
    let before = etcd.id();
    etcd.stop(Duration::from_secs(5)).await.unwrap();
    assert!(!etcd.is_running() && etcd.id().is_none());
    etcd.restart(Duration::ZERO).await.unwrap();
    env.environment().until_ready().await.unwrap();
    assert_ne!(etcd.id(), before);
}

#[kubewright_testenv::test(own)]
async fn a_restored_snapshot_brings_back_what_was_and_forgets_what_came_after(env: Env) {
    let early = env.create(config_map("early")).await;
    let snapshot = env.environment().snapshot().unwrap();
    env.delete(&early).await;
    env.create(config_map("late")).await;
    env.environment().restore(&snapshot).await.unwrap();
    let api = env.api::<ConfigMap>();
    assert_eq!(api.get("early").await.unwrap().metadata.uid, early.metadata.uid);
    assert!(api.get_opt("late").await.unwrap().is_none());
}

/// The port is the API server's own: another one would be a different server to its clients.
#[kubewright_testenv::test(own)]
async fn an_api_server_whose_port_was_taken_meanwhile_says_so(env: Env) {
    let environment = env.environment();
    let kubeconfig = std::fs::read_to_string(environment.kubeconfig()).unwrap();
    let address = kubeconfig.split("https://").nth(1).unwrap().split('"').next().unwrap();
    environment.apiserver().kill().await.unwrap();
    let _taken = std::net::TcpListener::bind(address).unwrap();
    environment.apiserver().start().unwrap();
    let error = environment.until_ready().await.unwrap_err().to_string();
    assert!(error.contains("address already in use"), "{error}");
}
