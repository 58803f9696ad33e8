//! What covers what; and on a real API server, that every change is seen and can be put back.

mod admission;
mod changes;
mod foreign;
mod objects;
mod subject;

use serde_json::{Value, json};

use super::covers;

/// An intent with some lists, and the set that the server makes of it.
fn pair() -> (Value, Value) {
    let intent = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "n", "labels": {"a.b/c": "d"}, "finalizers": ["f/x"]},
        "spec": {"args": ["a", "b"], "containers": [{"name": "m", "image": "i", "ports": [
            {"containerPort": 53, "name": "t"}, {"containerPort": 53, "protocol": "UDP"}]}]}});
    let own = json!({
    "f:metadata": {"f:labels": {"f:a.b/c": {}}, "f:finalizers": {"v:\"f/x\"": {}}},
    "f:spec": {"f:args": {}, "f:containers": {"k:{\"name\":\"m\"}": {".": {}, "f:name": {}, "f:image": {},
        "f:ports": {
            "k:{\"containerPort\":53,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:name": {}},
            "k:{\"containerPort\":53,\"protocol\":\"UDP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}},
        }}}}});
    (intent, own)
}

#[test]
fn a_set_with_every_field_covers_the_intent() {
    let (intent, own) = pair();
    assert!(covers(&intent, &intent, &own));
}

#[test]
fn a_set_that_lacks_a_field_does_not() {
    let (intent, own) = pair();
    let port = "/f:spec/f:containers/k:{\"name\":\"m\"}/f:ports";
    for (parent, field) in [
        ("", "f:metadata"),
        ("", "f:spec"),
        ("/f:metadata", "f:labels"),
        ("/f:metadata/f:labels", "f:a.b/c"),
        ("/f:metadata/f:finalizers", "v:\"f/x\""),
        ("/f:spec", "f:args"),
        ("/f:spec", "f:containers"),
        ("/f:spec/f:containers/k:{\"name\":\"m\"}", "f:image"),
        (port, "k:{\"containerPort\":53,\"protocol\":\"TCP\"}"),
        (port, "k:{\"containerPort\":53,\"protocol\":\"UDP\"}"),
    ] {
        let mut less = own.clone();
        let parent = less.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        assert!(parent.remove(field).is_some());
        // The server writes no empty sets of what is not a field of ours itself.
        parent.insert("f:other".to_owned(), json!({}));
        assert!(!covers(&intent, &intent, &less), "{field}");
    }
}

#[test]
fn each_entry_of_the_set_stands_for_one_item() {
    let intent = json!({"ports": [{"port": 53}, {"port": 53, "protocol": "UDP"}]});
    let entry = |protocol: &str| format!("k:{{\"port\":53,\"protocol\":\"{protocol}\"}}");
    let set = json!({".": {}, "f:port": {}, "f:protocol": {}});
    assert!(covers(&intent, &intent, &json!({"f:ports": {entry("UDP"): set, entry("TCP"): set}})));
    assert!(!covers(&intent, &intent, &json!({"f:ports": {entry("UDP"): set}})));
    assert!(!covers(&intent, &intent, &json!({"f:ports": {entry("TCP"): set}})));
}

#[test]
fn sets_of_an_unknown_form_cover_nothing() {
    for own in
        [json!(null), json!([]), json!({"f:a": []}), json!({"f:a": {"k:nonsense": {}, "é": {}}})]
    {
        let intent = json!({"a": [{"name": "x"}]});
        assert!(!covers(&intent, &intent, &own), "{own}");
    }
}

#[test]
fn where_the_set_is_ambiguous_the_values_decide() {
    let whole = json!({"f:spec": {"f:selector": {}, "f:args": {}}});
    let intent = json!({"spec": {"selector": {"app": "a"}, "args": ["x"]}});
    let held = |selector: Value, args: Value| json!({"spec": {"selector": selector, "args": args}});
    assert!(covers(&intent, &held(json!({"app": "a", "default": 1}), json!(["x"])), &whole));
    assert!(
        !covers(&intent, &held(json!({"app": "b"}), json!(["x"])), &whole),
        "all its fields were taken"
    );
    assert!(!covers(&intent, &held(json!(null), json!(["x"])), &whole));
    assert!(
        covers(&intent, &held(json!({"app": "a"}), json!(["rewritten"])), &whole),
        "by admission"
    );
}

#[test]
fn an_empty_list_need_not_be_in_the_set_unless_somebody_filled_it() {
    let intent = json!({"spec": {"env": [], "size": 1}});
    let own = json!({"f:spec": {"f:size": {}}});
    assert!(covers(&intent, &json!({"spec": {"size": 1}}), &own));
    assert!(covers(&intent, &json!({"spec": {"size": 1, "env": []}}), &own));
    assert!(!covers(&intent, &json!({"spec": {"size": 1, "env": ["x"]}}), &own));
}
