//! The fault proxy in front of the real API server.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use kubewright_testenv::{Disturbed, Env, Identity};

use crate::fixtures::config_map;

async fn client(way: &Disturbed) -> Client {
    let kubeconfig = Kubeconfig::read_from(&way.kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.default_retry = false;
    config.try_into().unwrap()
}

#[kubewright_testenv::test]
async fn a_client_behind_the_proxy_is_who_it_was(env: Env) {
    let way =
        env.environment().disturbed(Identity::User { name: "jane", groups: &[] }).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client(&way).await, env.namespace());
    let error = api.get("none").await.unwrap_err().to_string();
    assert!(error.contains(r#"User "jane" cannot get"#), "{error}");
    assert_eq!(way.proxy.requests(), 1);
}

#[kubewright_testenv::test]
async fn only_the_client_behind_the_proxy_is_cut_off(env: Env) {
    let way = env.environment().disturbed(Identity::Admin).await.unwrap();
    let client = client(&way).await;
    client.apiserver_version().await.unwrap();
    way.proxy.cut();
    client.apiserver_version().await.unwrap_err();
    env.client().apiserver_version().await.unwrap();
    way.proxy.heal();
    client.apiserver_version().await.unwrap();
}

#[kubewright_testenv::test]
async fn requests_are_delayed(env: Env) {
    let way = env.environment().disturbed(Identity::Admin).await.unwrap();
    let client = client(&way).await;
    way.proxy.delay(Duration::from_millis(300));
    let started = Instant::now();
    client.apiserver_version().await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
}

#[kubewright_testenv::test]
async fn a_running_watch_ends_with_410(env: Env) {
    let way = env.environment().disturbed(Identity::Admin).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client(&way).await, env.namespace());
    let events = api.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    pin_mut!(events);
    env.create(config_map("seen")).await;
    match events.next().await {
        Some(Ok(WatchEvent::Added(map))) => assert_eq!(map.metadata.name.as_deref(), Some("seen")),
        other => panic!("{other:?}"),
    }
    assert_eq!(way.proxy.expire_watches(), 1);
    match events.next().await {
        Some(Ok(WatchEvent::Error(status))) => assert_eq!(status.code, 410),
        other => panic!("{other:?}"),
    }
    assert!(events.next().await.is_none());
}
