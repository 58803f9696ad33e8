//! What others add stays and is not seen; what they put in the place of ours does not stay.

use kubewright_testenv::Env;
use serde_json::{Value, json};

use super::objects;
use super::subject::{MANAGER, STRANGER, Subject, values};

const POD: &str = "/spec/template/spec";

fn deployment(env: &Env) -> Subject {
    let kind = "apps/v1 Deployment deployments";
    Subject::new(env.client(), env.namespace(), kind, objects::deployment())
}

#[kubewright_testenv::test]
async fn what_others_add_is_neither_seen_nor_lost(env: Env) {
    let subject = deployment(&env);
    subject.create().await;
    let container = format!("{POD}/containers/0");
    let added = subject
        .patch(STRANGER, json!([
            {"op": "add", "path": "/metadata/labels/foreign", "value": "1"},
            {"op": "add", "path": "/metadata/annotations/foreign", "value": "1"},
            {"op": "add", "path": "/metadata/finalizers/-", "value": "test.dev/foreign"},
            {"op": "add", "path": format!("{POD}/containers/-"), "value": {"name": "sidecar", "image": "s:1"}},
            {"op": "add", "path": format!("{container}/env/-"), "value": {"name": "FOREIGN", "value": "1"}},
            {"op": "add", "path": format!("{container}/ports/-"), "value": {"containerPort": 81, "name": "f"}},
            {"op": "add", "path": format!("{container}/startupProbe"), "value": {"tcpSocket": {"port": 1}}},
            {"op": "add", "path": format!("{POD}/volumes/-"), "value": {"name": "foreign", "emptyDir": {}}},
            {"op": "add", "path": format!("{POD}/priority"), "value": 0},
        ]))
        .await
        .unwrap();
    assert!(subject.is_quiet(&added));
    for change in [
        json!({"op": "replace", "path": "/spec/replicas", "value": 7}),
        json!({"op": "replace", "path": format!("{container}/name"), "value": "renamed"}),
        json!({"op": "replace", "path": format!("{container}/env/0/name"), "value": "RENAMED"}),
        json!({"op": "replace", "path": format!("{container}/ports/0/containerPort"), "value": 7}),
        json!({"op": "remove", "path": format!("{container}/ports/1")}),
        json!({"op": "remove", "path": format!("{container}/env/0")}),
        json!({"op": "remove", "path": format!("{POD}/volumes/1")}),
    ] {
        let changed = subject.patch(STRANGER, json!([change])).await.unwrap();
        assert!(!subject.is_quiet(&changed), "{change}");
        let (back, _) = subject.put_back(&changed).await.unwrap();
        assert!(subject.is_quiet(&back), "{change}");
        assert_eq!(sorted(values(&back)), sorted(values(&added)), "{change}");
    }
}

#[kubewright_testenv::test]
async fn what_is_put_in_the_place_of_ours_goes(env: Env) {
    let subject = deployment(&env);
    let fresh = subject.create().await;
    let container = format!("{POD}/containers/0");
    for (place, one, other) in [
        (format!("{POD}/volumes/0"), "emptyDir", json!({"hostPath": {"path": "/etc"}})),
        (format!("{POD}/volumes/2"), "configMap", json!({"secret": {"secretName": "s"}})),
        (
            format!("{container}/env/0"),
            "value",
            json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}),
        ),
        (format!("{container}/env/3"), "valueFrom", json!({"value": "x"})),
        (
            format!("{container}/env/4/valueFrom"),
            "secretKeyRef",
            json!({"fieldRef": {"fieldPath": "metadata.uid"}}),
        ),
        (
            format!("{container}/readinessProbe"),
            "tcpSocket",
            json!({"exec": {"command": ["true"]}}),
        ),
        (format!("{container}/lifecycle/preStop"), "exec", json!({"sleep": {"seconds": 1}})),
    ] {
        let (name, value) = other.as_object().unwrap().iter().next().unwrap();
        let swap = json!([
            {"op": "remove", "path": format!("{place}/{one}")},
            {"op": "add", "path": format!("{place}/{name}"), "value": value},
        ]);
        let changed = subject.patch(STRANGER, swap).await.unwrap();
        assert!(!subject.is_quiet(&changed), "{place}");
        let (back, requests) = subject.put_back(&changed).await.unwrap();
        assert!(subject.is_quiet(&back) && requests <= 3, "{place}");
        assert_eq!(values(&back), values(&fresh), "{place}");
        assert_eq!(back.own_fields(MANAGER, None), fresh.own_fields(MANAGER, None), "{place}");
    }
}

#[kubewright_testenv::test]
async fn a_repair_does_not_keep_alive_what_is_dropped_later(env: Env) {
    let mut subject = deployment(&env);
    subject.create().await;
    let rename =
        json!([{"op": "replace", "path": format!("{POD}/containers/1/name"), "value": "renamed"}]);
    let changed = subject.patch(STRANGER, rename).await.unwrap();
    let (back, _) = subject.put_back(&changed).await.unwrap();
    let mut less = subject.intent.body().clone();
    less["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().pop();
    subject.intent = crate::intent::Intent::new(less);
    let (back, requests) = subject.put_back(&back).await.unwrap();
    assert_eq!(requests, 1);
    assert_eq!(
        values(&back)["spec"]["template"]["spec"]["containers"].as_array().unwrap().len(),
        1
    );
}

#[kubewright_testenv::test]
async fn another_order_or_spelling_is_not_seen(env: Env) {
    let subject = deployment(&env);
    let fresh = subject.create().await;
    let mut containers = values(&fresh)["spec"]["template"]["spec"]["containers"].clone();
    containers.as_array_mut().unwrap().reverse();
    for container in containers.as_array_mut().unwrap() {
        for list in ["env", "ports", "volumeMounts"] {
            container[list].as_array_mut().into_iter().for_each(|items| items.reverse());
        }
    }
    containers[1]["resources"]["requests"]["memory"] = "1024Mi".into();
    let reordered =
        json!([{"op": "replace", "path": format!("{POD}/containers"), "value": containers}]);
    let changed = subject.patch(STRANGER, reordered).await.unwrap();
    assert_ne!(values(&changed)["spec"], values(&fresh)["spec"]);
    assert!(subject.is_quiet(&changed));
}

/// The lists of what has a name, by name: the order in which others' items stand among ours may change.
fn sorted(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => map.values_mut().for_each(|value| *value = sorted(value.take())),
        Value::Array(items) => {
            for item in items.iter_mut() {
                *item = sorted(item.take());
            }
            if items.iter().all(Value::is_object) {
                items.sort_by_key(Value::to_string);
            }
        }
        _ => {}
    }
    value
}
