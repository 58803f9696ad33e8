//! What is decoded, however odd it is.

use kube::Resource;
use kube::api::{ObjectList, WatchEvent};

use super::*;

const ODD: &str = r#"{"apiVersion":"v1","kind":"Odd","metadata":{"name":"odd","namespace":"n","uid":"u",
    "resourceVersion":"12","generation":"three","labels":{"number":1,"text":"t"},
    "ownerReferences":[7,{"uid":"lacks a controller"},{"uid":"o","controller":true}],
    "managedFields":[{"manager":5},{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:a":{}}}]}}"#;

fn parse(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

#[test]
fn odd_metadata_spoils_nothing_else() {
    let raw = parse(ODD);
    let meta = raw.meta();
    assert_eq!((meta.name.as_deref(), meta.namespace.as_deref()), (Some("odd"), Some("n")));
    assert_eq!((meta.uid.as_deref(), raw.version()), (Some("u"), 12));
    assert_eq!(raw.owner_uid(), Some("o"));
    assert_eq!((raw.label("text").as_deref(), raw.label("number")), (Some("t"), None));
    assert_eq!((raw.generation(), raw.deleting()), (None, false));
    assert_eq!(raw.own_fields("m", None).as_deref(), Some(r#"{"f:a":{}}"#));
}

#[test]
fn whatever_is_json_is_decoded() {
    for text in [
        "{}",
        "[]",
        "null",
        "\"text\"",
        r#"{"metadata":null}"#,
        r#"{"metadata":[]}"#,
        r#"{"metadata":{"name":5,"uid":{},"resourceVersion":12,"labels":[],"ownerReferences":{},"managedFields":""}}"#,
    ] {
        let raw = parse(text);
        assert_eq!((raw.meta().name.as_deref(), raw.version()), (None, 0), "{text}");
        assert_eq!((raw.owner_uid(), raw.label("a")), (None, None), "{text}");
        assert_eq!(raw.field_owners().count(), 0, "{text}");
    }
    assert!(Raw::parse("{".to_owned()).is_err());
}

#[test]
fn deletion_and_generation_are_seen() {
    let raw = parse(r#"{"metadata":{"generation":4,"deletionTimestamp":"2026-01-01T00:00:00Z"}}"#);
    assert_eq!((raw.generation(), raw.deleting()), (Some(4), true));
}

#[test]
fn own_fields_are_those_of_the_manager_the_operation_the_subresource_and_the_version() {
    let entry = |manager: &str, operation: &str, version: &str, more: &str, field: &str| {
        format!(
            r#"{{"manager":"{manager}","operation":"{operation}","apiVersion":"{version}"{more},"fieldsV1":{{"f:{field}":{{}}}}}}"#
        )
    };
    let entries = [
        entry("other", "Apply", "v1", "", "a"),
        entry("m", "Update", "v1", "", "b"),
        entry("m", "Apply", "v1beta1", "", "c"),
        entry("m", "Apply", "v1", r#","subresource":"status""#, "d"),
        entry("m", "Apply", "v1", r#","subresource":"""#, "e"),
    ];
    let text =
        format!(r#"{{"apiVersion":"v1","metadata":{{"managedFields":[{}]}}}}"#, entries.join(","));
    let raw = parse(&text);
    assert_eq!(raw.own_fields("m", None).as_deref(), Some(r#"{"f:e":{}}"#));
    assert_eq!(raw.own_fields("m", Some("status")).as_deref(), Some(r#"{"f:d":{}}"#));
    assert_eq!(raw.own_fields("nobody", None), None);
    assert!(raw.text()[raw.managed_fields().unwrap()].ends_with(r#"{"f:e":{}}}]"#));
}

#[test]
fn a_watch_event_is_decoded_in_the_order_that_the_server_writes() {
    let event: WatchEvent<Raw> =
        serde_json::from_str(&format!(r#"{{"type":"MODIFIED","object":{ODD}}}"#)).unwrap();
    let WatchEvent::Modified(raw) = event else { panic!("{event:?}") };
    assert_eq!((raw.meta().name.as_deref(), raw.text()), (Some("odd"), ODD));
}

#[test]
fn a_list_is_decoded() {
    let text = format!(
        r#"{{"kind":"OddList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{ODD},{{}}]}}"#
    );
    let list: ObjectList<Raw> = serde_json::from_str(&text).unwrap();
    assert_eq!(list.metadata.resource_version.as_deref(), Some("9"));
    assert_eq!(list.items.iter().map(Raw::version).collect::<Vec<_>>(), [12, 0]);
}

#[test]
fn an_item_of_a_list_need_not_say_its_version() {
    let text = r#"{"metadata": {"managedFields": [
        {"manager": "m", "operation": "Apply", "apiVersion": "v2", "fieldsV1": {"f:a": {}}},
        {"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:b": {}}}
    ]}}"#;
    let mut raw = Raw::parse(text.to_owned()).unwrap();
    assert_eq!(raw.own_fields("m", None), None);
    raw.is_listed_as("v1");
    assert_eq!(raw.own_fields("m", None).as_deref(), Some(r#"{"f:b": {}}"#));
}
