//! etcd and kube-apiserver by themselves.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Service, ServiceAccount};
use kube::Api;
use kube::api::{DynamicObject, ListParams, PostParams};
use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;
use kubewright_testenv::{Env, Environment, KubernetesVersion};
use serde_json::json;

use crate::fixtures::{config_map, definition, typed};

#[kubewright_testenv::test]
async fn an_installed_definition_is_served(env: Env) {
    let definition = definition("widgets", "Widget");
    env.install(std::slice::from_ref(&definition)).await;
    let kind = kube::api::GroupVersionKind::gvk("test.kubewright.dev", "v1", "Widget");
    let resource = kube::api::ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> = Api::namespaced_with(env.client(), env.namespace(), &resource);
    let widget = DynamicObject::new("a", &resource).data(json!({ "spec": { "size": 3 } }));
    api.create(&PostParams::default(), &widget).await.unwrap();
    assert_eq!(api.get("a").await.unwrap().data["spec"]["size"], 3);
}

#[kubewright_testenv::test]
async fn each_test_has_a_namespace_of_its_own(env: Env) {
    env.create(config_map("mine")).await;
    let everywhere: Api<ConfigMap> = Api::all(env.client());
    let mine = everywhere.list(&ListParams::default().fields("metadata.name=mine")).await.unwrap();
    let namespaces: Vec<_> =
        mine.items.iter().filter_map(|map| map.metadata.namespace.as_deref()).collect();
    assert_eq!(namespaces, [env.namespace()]);
    assert!(env.namespace().starts_with("each-test-has-a-namespace-of-its-own-"));
}

#[kubewright_testenv::test]
async fn the_server_says_the_version_that_was_asked_for(env: Env) {
    let version = env.client().apiserver_version().await.unwrap();
    assert_eq!(version.git_version, format!("v{}", env.environment().version()));
}

/// A packet for a Service must not leave the machine, not even where nobody can set a route.
#[kubewright_testenv::test]
async fn without_nodes_a_service_has_a_loopback_address(env: Env) {
    assert!(env.environment().nodes().is_empty());
    let service: Service =
        typed(json!({ "metadata": { "name": "a" }, "spec": { "ports": [{ "port": 80 }] } }));
    let address = env.create(service).await.spec.unwrap().cluster_ip.unwrap();
    assert!(address.parse::<std::net::Ipv4Addr>().unwrap().is_loopback(), "{address}");
}

#[kubewright_testenv::test(controllers)]
async fn controllers_make_the_default_service_account_and_finish_namespaces(env: Env) {
    let accounts: Api<ServiceAccount> = env.api();
    env.eventually("a default ServiceAccount", async || {
        accounts.get("default").await.map_err(|error| error.to_string())
    })
    .await;
    let namespaces: Api<Namespace> = Api::all(env.client());
    let namespace: Namespace = typed(json!({ "metadata": { "generateName": "short-lived-" } }));
    let name =
        namespaces.create(&PostParams::default(), &namespace).await.unwrap().metadata.name.unwrap();
    namespaces.delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
    env.eventually("the namespace is gone", async || match namespaces.get_opt(&name).await {
        Ok(None) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

#[tokio::test]
async fn two_environments_run_side_by_side_and_one_ends_alone() {
    if !can_run("two_environments", Tier::ControlPlane) {
        return;
    }
    let builder = Environment::builder();
    let (first, second) = tokio::join!(builder.clone().start(), builder.start());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_ne!(first.directory(), second.directory());
    let directory = first.directory().to_owned();
    first.stop().await.unwrap();
    assert!(!directory.exists());
    second.client().apiserver_version().await.unwrap();
    second.stop().await.unwrap();
}

/// The oldest supported version is built and started in the same way as the newest.
#[tokio::test]
async fn the_oldest_supported_version_starts() {
    if !can_run("the_oldest_supported_version", Tier::ControlPlane) {
        return;
    }
    let oldest = KubernetesVersion::all().last().unwrap();
    let environment = Environment::builder().version(oldest).start().await.unwrap();
    environment.install(&[definition("widgets", "Widget")]).await.unwrap();
    let version = environment.client().apiserver_version().await.unwrap();
    assert_eq!(version.git_version, format!("v{oldest}"));
    environment.stop().await.unwrap();
}
