//! What is taken for renamed, and what is left alone.

use serde_json::json;

use super::*;

/// The patch for a list `spec.items`, of which the items in `ours` are still ours.
fn patch(wanted: &Value, actual: &Value, ours: &[&str]) -> Option<Vec<Value>> {
    let intent = json!({"spec": {"items": wanted}});
    let held = json!({"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {"items": actual}});
    let entries = ours.iter().map(|keys| (format!("k:{keys}"), json!({".": {}})));
    let own = json!({"f:spec": {"f:items": entries.collect::<Map<_, _>>()}});
    let own = if ours.is_empty() { json!({"f:spec": {"f:other": {}}}) } else { own };
    let mut operations = repair(&intent, &held, &own)?;
    let guard: Vec<Value> = operations.drain(..2).collect();
    assert_eq!(guard[0], json!({"op": "test", "path": "/metadata/uid", "value": "u"}));
    assert_eq!(guard[1], json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}));
    Some(operations)
}

fn add(path: &str, value: &Value) -> Value {
    json!({"op": "add", "path": path, "value": value})
}

#[test]
fn a_renamed_item_gets_its_name_back_and_keeps_what_others_added() {
    let wanted = json!([{"name": "a", "image": "i", "memory": "1024Mi", "args": []}]);
    let actual = json!([{"name": "x", "image": "i", "memory": "1Gi", "default": 1, "foreign": 2}]);
    assert_eq!(patch(&wanted, &actual, &[]), Some(vec![add("/spec/items/0/name", &json!("a"))]));
}

#[test]
fn a_key_that_the_intent_leaves_out_is_left_to_the_server() {
    let wanted = json!([{"port": 53, "name": "t"}, {"port": 53, "protocol": "UDP", "name": "u"}]);
    let actual = json!([{"port": 54, "protocol": "TCP", "name": "t"}, {"port": 53, "protocol": "UDP", "name": "u"}]);
    let expected = vec![
        add("/spec/items/0/port", &json!(53)),
        json!({"op": "remove", "path": "/spec/items/0/protocol"}),
    ];
    assert_eq!(patch(&wanted, &actual, &[r#"{"port":53,"protocol":"UDP"}"#]), Some(expected));
}

#[test]
fn items_of_others_are_left_alone() {
    let ours = json!([{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]);
    for (actual, why) in [
        (
            json!([{"name": "b", "value": "1"}, {"name": "x", "value": "1"}]),
            "it stands behind the next of ours",
        ),
        (json!([{"name": "x", "value": "2"}, {"name": "b", "value": "1"}]), "it is different"),
        (json!([{"name": "b", "value": "1"}]), "ours was removed"),
        (json!(["x", {"name": "b", "value": "1"}]), "it is none of the kind"),
    ] {
        assert_eq!(patch(&ours, &actual, &[r#"{"name":"b"}"#]), None, "{why}");
    }
    let complete = json!([{"name": "x", "value": "1"}, {"name": "a", "value": "1"}, {"name": "b", "value": "1"}]);
    assert_eq!(
        patch(&ours, &complete, &[r#"{"name":"a"}"#, r#"{"name":"b"}"#]),
        None,
        "nothing of ours is lost"
    );
}

#[test]
fn an_item_that_is_only_a_name_is_taken_for_renamed_if_nothing_was_added() {
    let wanted = json!([{"name": "a"}, {"name": "b"}]);
    let ours = [r#"{"name":"b"}"#];
    let renamed = json!([{"name": "x"}, {"name": "b"}]);
    assert_eq!(patch(&wanted, &renamed, &ours), Some(vec![add("/spec/items/0/name", &json!("a"))]));
    let more = json!([{"name": "x"}, {"name": "b"}, {"name": "y"}]);
    assert_eq!(patch(&wanted, &more, &ours), None);
}

#[test]
fn an_old_item_of_ours_is_left_to_the_apply() {
    let (wanted, actual) =
        (json!([{"name": "new", "value": "1"}]), json!([{"name": "old", "value": "1"}]));
    assert_eq!(patch(&wanted, &actual, &[r#"{"name":"old"}"#]), None);
}

#[test]
fn values_of_a_plain_list_are_never_taken_for_renamed() {
    assert_eq!(patch(&json!(["ours"]), &json!(["theirs"]), &[]), None);
}

#[test]
fn what_is_in_the_place_of_ours_goes() {
    let wanted = json!([{"name": "a", "value": "1"}]);
    let actual = json!([{"name": "a", "valueFrom": {"fieldRef": {}}, "foreign": 1}]);
    let expected = vec![
        json!({"op": "remove", "path": "/spec/items/0/valueFrom"}),
        add("/spec/items/0/value", &json!("1")),
    ];
    assert_eq!(patch(&wanted, &actual, &[r#"{"name":"a"}"#]), Some(expected));
    let only_lost = json!([{"name": "a", "foreign": 1}]);
    assert_eq!(patch(&wanted, &only_lost, &[r#"{"name":"a"}"#]), None);
}

#[test]
fn only_what_we_own_by_a_patch_is_disowned() {
    let entry = |manager: &str, operation: &str| json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": {"f:a": {}}});
    let mut status = entry("us", "Update");
    status["subresource"] = json!("status");
    let raw = |entries: Value| {
        let object =
            json!({"metadata": {"uid": "u", "resourceVersion": "7", "managedFields": entries}});
        Raw::parse(object.to_string()).unwrap()
    };
    let both = raw(json!([
        entry("us", "Update"),
        status,
        entry("us", "Apply"),
        entry("us", "Update"),
        entry("other", "Update")
    ]));
    let paths: Vec<_> =
        disown(&both, "us").unwrap().iter().map(|operation| operation["path"].clone()).collect();
    assert_eq!(
        paths,
        [
            "/metadata/uid",
            "/metadata/resourceVersion",
            "/metadata/managedFields/3",
            "/metadata/managedFields/0"
        ]
    );
    assert_eq!(
        disown(&raw(json!([status, entry("us", "Apply"), entry("other", "Update")])), "us"),
        None
    );
}
