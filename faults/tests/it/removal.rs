//! The operator goes before its caches, and they have no finalizer that would wait for it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use kubewright_testenv::Env;
use memcached_faults::state::objects;

use crate::stage::{Nothing, Stage, has_time};

/// Three caches without a finalizer.
async fn with_caches(env: &Env) -> Stage<'_> {
    let stage = Stage::new(env, Arc::new(Nothing), &["--finalizer=false"]).await;
    for name in ["a", "b", "c"] {
        stage.create(name, 1).await;
    }
    stage.settled().await;
    stage
}

async fn until_gone(stage: &Stage<'_>, name: &str) {
    let namespaces: Api<Namespace> = Api::all(stage.world.client());
    stage
        .eventually(&format!("the namespace {name} is gone"), async || {
            match namespaces.get_opt(name).await.map_err(|error| error.to_string())? {
                None => Ok(()),
                Some(namespace) => Err(format!("{:?}", namespace.status)),
            }
        })
        .await;
}

fn definitions(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(client, &ApiResource::from_gvk(&kind))
}

#[kubewright_testenv::test(own, controllers)]
async fn d3_d4_without_a_finalizer_nothing_waits_for_the_operator(env: Env) {
    if !has_time("D3 and D4 without a finalizer") {
        return;
    }
    // D3: its own namespace, with its account and its rights, and that of its caches.
    let stage = with_caches(&env).await;
    let home = stage.world.home().1;
    let namespaces: Api<Namespace> = Api::all(stage.world.client());
    for name in [&home, &stage.namespace] {
        namespaces.delete(name, &DeleteParams::background()).await.unwrap();
    }
    until_gone(&stage, &home).await;
    until_gone(&stage, &stage.namespace).await;
    drop(stage);

    // D4: the operator, then its caches, then their definition.
    let mut stage = with_caches(&env).await;
    stage.subject.running.end().await;
    stage
        .caches()
        .delete_collection(&DeleteParams::background(), &ListParams::default())
        .await
        .unwrap();
    stage
        .eventually("caches and children are gone", async || {
            let objects = objects(&stage.world.client(), &stage.namespace).await;
            let objects = objects.map_err(|error| format!("{error:#}"))?;
            let left = ["memcacheds", "deployments", "services"]
                .map(|resource| objects[resource].as_array().map_or(0, Vec::len));
            if left == [0, 0, 0] { Ok(()) } else { Err(format!("{left:?}")) }
        })
        .await;
    let (api, name) = (definitions(stage.world.client()), "memcacheds.cache.example.com");
    api.delete(name, &DeleteParams::background()).await.unwrap();
    stage
        .eventually("the definition is gone", async || {
            let found = api.get_opt(name).await.map_err(|error| error.to_string())?;
            if found.is_none() { Ok(()) } else { Err("it is there".to_owned()) }
        })
        .await;
}
