//! Names as long as they may be.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::PostParams;
use kubewright_testenv::Env;
use serde_json::json;

use crate::stage::{Nothing, Stage};

#[kubewright_testenv::test]
async fn i12_a_namespace_with_the_longest_name_is_served(env: Env) {
    let name = format!("{:-<63}", "longest").replace('-', "n");
    let namespaces: Api<Namespace> = Api::all(env.environment().client());
    let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let stage = Stage::in_namespace(&env, &name, Arc::new(Nothing)).await;
    stage.create("a", 1).await;
    stage.create(&"b".repeat(63), 1).await;
    stage.settled().await;
    stage.stands();
}
