//! How drift is told to people.

use serde_json::json;

use super::*;

fn intent() -> Value {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "labels": {"a.b/c": "d"}},
        "spec": {"size": 3, "args": ["x"], "containers": [
            {"name": "m", "image": "m:1", "ports": [{"containerPort": 53, "protocol": "UDP", "name": "u"}]}, {"name": "n"}]}})
}

fn own() -> Value {
    json!({"f:metadata": {"f:labels": {"f:a.b/c": {}}}, "f:spec": {"f:size": {}, "f:args": {}, "f:containers": {
        "k:{\"name\":\"m\"}": {".": {}, "f:name": {}, "f:image": {}, "f:ports": {
            "k:{\"containerPort\":53,\"protocol\":\"UDP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}, "f:name": {}}}},
        "k:{\"name\":\"n\"}": {".": {}, "f:name": {}}}}})
}

/// Fields with what is expected and what there is, when `held` is there and the set lacks `taken`.
fn told(held: &Value, taken: &[&str]) -> Vec<(String, Value, Option<Value>)> {
    let mut own = own();
    for path in taken {
        let (parent, field) = path.rsplit_once('/').unwrap();
        let parent = own.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        assert!(parent.remove(field).is_some(), "{path}");
    }
    let intent = intent();
    let drifts = drifted(&intent, held, &own);
    drifts.into_iter().map(|drift| (drift.field, drift.expected.clone(), drift.actual)).collect()
}

#[test]
fn nothing_is_told_of_what_is_ours() {
    assert_eq!(told(&intent(), &[]), []);
}

#[test]
fn a_field_is_told_by_its_path_with_what_it_should_be_and_what_it_is() {
    let container = "/f:spec/f:containers/k:{\"name\":\"m\"}";
    let port =
        format!("{container}/f:ports/k:{{\"containerPort\":53,\"protocol\":\"UDP\"}}/f:name");
    let mut held = intent();
    held["spec"]["size"] = json!(5);
    held["metadata"]["labels"]["a.b/c"] = json!("x");
    held["spec"]["containers"][0]["ports"][0]["name"] = json!("v");
    held["spec"]["containers"].as_array_mut().unwrap().pop();
    let taken = [
        "/f:spec/f:size",
        "/f:metadata/f:labels",
        &port,
        "/f:spec/f:containers/k:{\"name\":\"n\"}",
    ];
    assert_eq!(
        told(&held, &taken),
        [
            ("metadata.labels[a.b/c]".to_owned(), json!("d"), Some(json!("x"))),
            (
                "spec.containers[name=m].ports[containerPort=53,protocol=UDP].name".to_owned(),
                json!("u"),
                Some(json!("v"))
            ),
            ("spec.containers[name=n]".to_owned(), json!({"name": "n"}), None),
            ("spec.size".to_owned(), json!(3), Some(json!(5))),
        ]
    );
}

#[test]
fn what_was_only_taken_over_is_told_if_there_is_nothing_else() {
    let mut held = intent();
    let taken = ["/f:spec/f:size", "/f:spec/f:args"];
    let fields: Vec<_> = told(&held, &taken).into_iter().map(|(field, ..)| field).collect();
    assert_eq!(fields, ["spec.args", "spec.size"]);
    held["spec"]["args"] = json!(["y"]);
    assert_eq!(told(&held, &taken), [("spec.args".to_owned(), json!(["x"]), Some(json!(["y"])))]);
}

#[test]
fn the_manager_that_owns_the_field_is_named() {
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields});
    let raw = json!({"apiVersion": "v1", "metadata": {"managedFields": [
        entry("other", json!({"f:spec": {"f:other": {}}})),
        entry("us", json!({"f:spec": {"f:containers": {"k:{\"name\":\"m\"}": {"f:image": {}}}, "f:size": {}}})),
        entry("kubectl-edit", json!({"f:spec": {"f:containers": {"k:{\"name\":\"m\"}": {"f:image": {}}}}})),
    ]}});
    let raw = Raw::parse(raw.to_string()).unwrap();
    let (intent, nothing) = (intent(), json!({"f:other": {}}));
    let drifts = drifted(&intent, &json!({}), &nothing);
    let manager = |field: &str| {
        let drift = drifts.iter().find(|drift| drift.field == field).unwrap();
        manager_of(&raw, drift, "us")
    };
    assert_eq!(manager("spec.containers[name=m]").as_deref(), Some("kubectl-edit"));
    assert_eq!(manager("spec.size"), None, "only we own it");
    assert_eq!(manager("spec.args"), None, "nobody owns it");
}
