//! What becomes of a child that somebody else touches.

use std::fmt::Debug;

use kubewright::k8s_openapi::NamespaceResourceScope;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::api::{DynamicObject, Patch};
use kubewright::kube::core::GroupVersionKind;
use kubewright::kube::discovery::ApiResource;
use kubewright::kube::{Api, api};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::books::{Book, book, deployment, map};
use crate::running::{self, Running, settled};
use crate::world::{STRANGER, converged, merge, reconciled, try_patch, writes_since};

/// The object as a value, without what the server counts.
fn masked<K: serde::Serialize>(object: &K) -> Value {
    let mut value = serde_json::to_value(object).unwrap();
    for field in ["resourceVersion", "generation", "managedFields"] {
        value["metadata"].as_object_mut().unwrap().remove(field);
    }
    value
}

/// A change of one leaf, as a JSON patch.
struct Edit {
    path: String,
    operation: Value,
    /// Whether it changes what identifies an item of a list.
    is_key: bool,
}

/// Every leaf below `value`, changed and removed.
fn edits(value: &Value, path: &str) -> Vec<Edit> {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let other = match value {
        Value::Object(map) => {
            let below = map.iter().map(|(key, value)| (value, format!("{path}/{}", escaped(key))));
            return below.flat_map(|(value, path)| edits(value, &path)).collect();
        }
        Value::Array(items) => {
            let below = items.iter().enumerate();
            return below.flat_map(|(at, item)| edits(item, &format!("{path}/{at}"))).collect();
        }
        Value::String(text) if text.ends_with("Mi") || text.ends_with('m') => json!("7"),
        Value::String(text) => json!(format!("{text}-x")),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        other => json!(!other.as_bool().unwrap()),
    };
    let is_key = ["containers/0/name", "env/0/name", "ports/0/containerPort"]
        .iter()
        .any(|key| path.ends_with(key));
    let change = json!([{"op": "replace", "path": path, "value": other}]);
    let removal = json!([{"op": "remove", "path": path}]);
    let edit = |operation| Edit { path: path.to_owned(), operation, is_key };
    vec![edit(change), edit(removal)]
}

/// Edits every leaf of `wanted` in turn. Each must be put back in one write, or in three if it was a key.
/// Says how many edits of either sort the API server accepted.
async fn walk<K>(env: &Env, operator: &Running, wanted: &Value) -> (usize, usize)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + Debug + DeserializeOwned + serde::Serialize,
{
    let api = env.api::<K>();
    let original = masked(&api.get("a").await.unwrap());
    let mut accepted = (0, 0);
    for edit in edits(wanted, "") {
        let before = operator.writes(env).len();
        let patch = Patch::Json::<()>(serde_json::from_value(edit.operation.clone()).unwrap());
        let parameters =
            api::PatchParams { field_manager: Some(STRANGER.into()), ..Default::default() };
        let edited = api.patch("a", &parameters, &patch).await;
        // What the server refuses, or mends itself, is no drift.
        if edited.is_err() || edited.is_ok_and(|edited| masked(&edited) == original) {
            continue;
        }
        if edit.is_key {
            accepted.1 += 1;
        } else {
            accepted.0 += 1;
        }
        env.eventually(&format!("{} is put back", edit.operation), async || {
            let now = masked(&api.get("a").await.unwrap());
            if now == original { Ok(()) } else { Err(format!("{now:#}")) }
        })
        .await;
        let most = if edit.is_key { 3 } else { 1 };
        let requests = operator.writes(env).split_off(before);
        assert!(requests.len() <= most, "{}: {requests:#?}", edit.path);
        let left = api.get("a").await.unwrap();
        let own_updates = left.managed_fields().iter().filter(|entry| {
            entry.manager.as_deref() == Some("book-operator")
                && entry.operation.as_deref() == Some("Update")
        });
        assert_eq!(own_updates.count(), 0, "{} left a trace", edit.path);
    }
    accepted
}

#[kubewright_testenv::test]
async fn every_field_of_a_child_is_put_back_in_one_write(env: Env) {
    let operator = running::books(&env).await;
    let book = converged(&env, &operator, book("a")).await;
    let wanted = |value: Value| {
        let mut value = value;
        value["metadata"] = json!({"annotations": {"kubewright.dev/intent": "0"},
            "ownerReferences": [{"name": "a", "kind": "Book", "apiVersion": "x/v1",
                "controller": true, "blockOwnerDeletion": true}]});
        value.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
        value
    };
    let before = operator.writes(&env).len();
    let map = wanted(serde_json::to_value(map(&book, 0)).unwrap());
    let (maps, _) = walk::<ConfigMap>(&env, &operator, &map).await;
    let writes = writes_since(&env, &operator, before).await;
    assert_eq!(writes.len(), maps, "{writes:#?}");
    assert!(maps >= 11, "{maps} edits of the ConfigMap were accepted");
    let wanted = wanted(serde_json::to_value(deployment(&book)).unwrap());
    let (fields, keys) = walk::<Deployment>(&env, &operator, &wanted).await;
    assert!(fields >= 18 && keys == 3, "{fields} fields and {keys} keys of the Deployment");
    let writes = writes_since(&env, &operator, before + maps).await;
    assert!(writes.len() <= fields + 3 * keys, "{writes:#?}");
    println!("{maps} + {fields} fields, {keys} keys: {maps} + {} writes", writes.len());
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_deleted_child_is_made_anew(env: Env) {
    let operator = running::books(&env).await;
    let book = converged(&env, &operator, book("a")).await;
    let map: ConfigMap = env.eventually_owned(&book).await;
    let deployment: Deployment = env.eventually_owned(&book).await;
    env.delete(&map).await;
    env.delete(&deployment).await;
    let again: ConfigMap = env.eventually_owned(&book).await;
    assert_ne!(again.uid(), map.uid());
    let again: Deployment = env.eventually_owned(&book).await;
    assert_ne!(again.uid(), deployment.uid());
    let writes = writes_since(&env, &operator, 3).await;
    assert_eq!(writes.len(), 2, "{writes:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn what_others_add_is_kept(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let sidecar = json!({"name": "sidecar", "image": "sidecar:1"});
    let press = json!({"name": "press", "env": [{"name": "DEBUG", "value": "1"}]});
    let pod = json!({"containers": [press, sidecar], "nodeSelector": {"disk": "fast"}});
    let added = json!({"labels": {"team": "red"}, "annotations": {"note": "mine"}});
    let template = json!({"metadata": {"annotations": {"restarted": "now"}}, "spec": pod});
    let patch = json!({"metadata": added, "spec": {"paused": true, "template": template}});
    let deployments = env.api::<Deployment>();
    let edited = try_patch(&deployments, "a", &Patch::Strategic(patch)).await.unwrap();
    let writes = writes_since(&env, &operator, 3).await;
    assert!(writes.is_empty(), "{writes:#?}");
    assert_eq!(masked(&deployments.get("a").await.unwrap()), masked(&edited));
    // It stays when something of ours changes.
    merge::<Book>(&env, "a", json!({"spec": {"text": "twice"}})).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let spec = deployments.get("a").await.unwrap().spec.unwrap();
    let containers = spec.template.spec.unwrap().containers;
    let names: Vec<_> = containers.iter().map(|container| container.name.as_str()).collect();
    assert_eq!((names, spec.paused), (vec!["press", "sidecar"], Some(true)));
    let variables = containers[0].env.clone().unwrap();
    let variables: Vec<_> = variables.into_iter().map(|variable| variable.value.unwrap()).collect();
    assert!(variables.contains(&"twice".to_owned()) && variables.contains(&"1".to_owned()));
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_child_that_left_the_selector_is_found_again(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let original = env.api::<ConfigMap>().get("a").await.unwrap();
    for label in [Value::Null, json!("somebody-else")] {
        let before = operator.writes(&env).len();
        let labels = json!({"metadata": {"labels": {kubewright::MANAGED_BY: label}}});
        merge::<ConfigMap>(&env, "a", labels).await;
        env.eventually("the label is put back", async || {
            let now = env.api::<ConfigMap>().get("a").await.unwrap();
            if masked(&now) == masked(&original) { Ok(()) } else { Err(format!("{now:?}")) }
        })
        .await;
        let writes = writes_since(&env, &operator, before).await;
        // The first is refused, and so finds it.
        assert_eq!(writes, ["patch configmaps/ a 409", "patch configmaps/ a 200"]);
    }
    reconciled(&env, "a", "True", "Reconciled").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_child_that_lost_its_owner_reference_gets_it_back(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let original = env.api::<ConfigMap>().get("a").await.unwrap();
    merge::<ConfigMap>(&env, "a", json!({"metadata": {"ownerReferences": []}})).await;
    env.eventually("the reference is put back", async || {
        let now = env.api::<ConfigMap>().get("a").await.unwrap();
        if masked(&now) == masked(&original) { Ok(()) } else { Err(format!("{now:?}")) }
    })
    .await;
    let writes = writes_since(&env, &operator, 3).await;
    assert_eq!(writes, ["patch configmaps/ a 200"]);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_child_that_somebody_took_over_is_left_to_them(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "controller": true,
        "uid": "6f1c6f0e-0000-4000-8000-000000000000"});
    let taken: ConfigMap =
        merge(&env, "a", json!({"metadata": {"ownerReferences": [other]}})).await;
    let message = reconciled(&env, "a", "False", "NameTaken").await;
    assert!(message.contains("ConfigMap") && message.contains("6f1c6f0e"), "{message}");
    settled(|| operator.writes(&env).len()).await;
    let now = env.api::<ConfigMap>().get("a").await.unwrap();
    assert_eq!(now.resource_version(), taken.resource_version());
    operator.stop().await;
}

/// Sets `spec.replicas` to 9 whenever it is something else, at once.
async fn quarrel(deployments: Api<DynamicObject>) {
    let parameters =
        api::PatchParams { field_manager: Some(STRANGER.into()), ..Default::default() };
    loop {
        let now = deployments.get("a").await;
        if now.is_ok_and(|now| now.data["spec"]["replicas"] != json!(9)) {
            let patch = Patch::Merge(json!({"spec": {"replicas": 9}}));
            let _ = deployments.patch("a", &parameters, &patch).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[kubewright_testenv::test]
async fn a_fight_ends_after_five_rounds_and_names_the_other_side(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment"));
    let deployments = Api::namespaced_with(env.client(), env.namespace(), &kind);
    let stranger = tokio::spawn(quarrel(deployments));
    let message = reconciled(&env, "a", "False", "Contested").await;
    assert!(message.contains(STRANGER) && message.contains("spec.replicas"), "{message}");
    let mut expected = vec!["patch deployments/ a 200"; 5];
    expected.push("patch books/status a 200");
    assert_eq!(writes_since(&env, &operator, 3).await, expected);
    // Whoever goes on alone gets no answer.
    let before = operator.requests(&env).len();
    for replicas in 10..30 {
        merge::<Deployment>(&env, "a", json!({"spec": {"replicas": replicas}})).await;
    }
    assert_eq!(settled(|| operator.requests(&env).len()).await, before);
    // What else is wanted is still done.
    merge::<Book>(&env, "a", json!({"spec": {"text": "twice"}})).await;
    env.eventually("the text is changed", async || {
        let now = env.api::<Deployment>().get("a").await.unwrap();
        let container = now.spec.unwrap().template.spec.unwrap().containers.swap_remove(0);
        let text = container.env.unwrap().swap_remove(0).value;
        if text.as_deref() == Some("twice") { Ok(()) } else { Err(format!("{text:?}")) }
    })
    .await;
    reconciled(&env, "a", "False", "Contested").await;
    let writes = writes_since(&env, &operator, 9).await;
    assert!(writes.len() <= 4, "{writes:#?}");
    stranger.abort();
    operator.stop().await;
}
