//! Parts of the cluster that go and come back.

use std::sync::Arc;
use std::time::Duration;

use kube::Api;
use kube::api::{DeleteParams, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use kubewright_testenv::Env;
use memcached_faults::oracle::{News, truthful_history};
use tokio::time::sleep;

use crate::stage::{Nothing, Stage};

#[kubewright_testenv::test(own)]
async fn e2_a_store_that_is_killed_is_waited_for_and_no_status_flaps(env: Env) {
    let stage = Stage::new(&env, Arc::new(Nothing), &[]).await;
    stage.create("a", 1).await;
    stage.settled().await;
    env.environment().etcd().kill().await.unwrap();
    sleep(Duration::from_secs(8)).await;
    env.environment().etcd().start().unwrap();
    env.environment().until_ready().await.unwrap();
    stage.resize("a", 2).await;
    let took = stage.settled().await;
    eprintln!("back after {took:?}");
    let history = stage.world.history.of(&stage.namespace);
    let wrong = truthful_history(&history, News::OnTime);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let failed = history.iter().filter(|seen| {
        seen.resource == "memcacheds"
            && seen.object["status"]["conditions"]
                .to_string()
                .contains("\"status\":\"False\",\"type\":\"Reconciled\"")
    });
    assert_eq!(failed.count(), 0, "a failed read is no news for people");
    stage.stands();
}

#[kubewright_testenv::test(own)]
async fn d8_a_definition_that_is_deleted_and_comes_back_is_followed(env: Env) {
    let stage = Stage::new(&env, Arc::new(Nothing), &["--finalizer=false"]).await;
    stage.create("a", 1).await;
    stage.settled().await;
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let api: Api<DynamicObject> =
        Api::all_with(stage.world.client(), &ApiResource::from_gvk(&kind));
    let name = "memcacheds.cache.example.com";
    api.delete(name, &DeleteParams::background()).await.unwrap();
    stage
        .eventually("the definition is gone", async || {
            let found = api.get_opt(name).await.map_err(|error| error.to_string())?;
            if found.is_none() { Ok(()) } else { Err("it is there".to_owned()) }
        })
        .await;
    sleep(Duration::from_secs(3)).await;
    env.install(&memcached_operator::operator().definitions()).await;
    // The children of the one before stay here: nobody collects them.
    stage.create("b", 1).await;
    let took = stage
        .eventually("b has its Deployment", async || {
            let found =
                stage.deployments().get_opt("b").await.map_err(|error| error.to_string())?;
            found.map(drop).ok_or_else(|| "it has none".to_owned())
        })
        .await;
    eprintln!("back after {took:?}");
    assert!(took <= Duration::from_secs(35), "{took:?}");
    stage.stands();
}
