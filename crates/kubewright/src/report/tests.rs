//! What a status becomes: what the author says, the library's condition, and nothing of what others wrote.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::held::Vocabulary;
use crate::raw::Raw;

/// An object with this status, of which `own` is ours.
fn held(status: &Value, own: &Value) -> Held {
    let object = json!({
        "apiVersion": "v1", "kind": "Book",
        "metadata": {
            "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "7", "generation": 3,
            "managedFields": [{
                "manager": "tester", "operation": "Apply", "subresource": "status", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:status": own},
            }],
        },
        "status": status,
    });
    Raw::parse(object.to_string()).unwrap().hold("tester", &mut Vocabulary::default())
}

fn failed(message: &str) -> Verdict {
    Verdict { status: Status::False, reason: "Broken".into(), message: message.into() }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn condition<'a>(status: &'a Value, type_: &str) -> &'a Value {
    let list = status["conditions"].as_array().unwrap();
    list.iter().find(|condition| condition["type"] == type_).unwrap()
}

#[test]
fn what_the_author_says_is_completed() {
    let asked = Asked {
        rest: json!({"pages": 2, "nothing": null}),
        conditions: vec![conditions::new("Printed", Status::True, "Printed", "done")],
    };
    let status =
        status(&held(&Value::Null, &Value::Null), Some(asked), &Verdict::success(), at(100));
    assert_eq!(status["pages"], 2);
    assert!(status.get("nothing").is_none(), "an apply of null may be refused");
    assert_eq!(condition(&status, "Printed")["observedGeneration"], 3);
    assert_eq!(condition(&status, RECONCILED)["status"], "True");
    assert_eq!(condition(&status, RECONCILED)["lastTransitionTime"], "1970-01-01T00:01:40Z");
}

#[test]
fn a_pass_that_says_nothing_keeps_what_was_ours_and_nothing_else() {
    let before = json!({
        "pages": 2, "foreign": "x",
        "conditions": [
            {"type": "Printed", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "1970-01-01T00:00:01Z"},
            {"type": "Theirs", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "1970-01-01T00:00:01Z"},
        ],
    });
    let own = json!({"f:pages": {}, "f:conditions": {"k:{\"type\":\"Printed\"}": {".": {}, "f:type": {}, "f:status": {}, "f:reason": {}, "f:message": {}, "f:lastTransitionTime": {}}}});
    let status = status(&held(&before, &own), None, &failed("x"), at(100));
    assert_eq!(status["pages"], 2);
    assert!(status.get("foreign").is_none());
    let types: Vec<_> =
        status["conditions"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(types, ["Printed", RECONCILED]);
    assert_eq!(condition(&status, "Printed")["lastTransitionTime"], "1970-01-01T00:00:01Z");
}

#[test]
fn the_transition_time_moves_only_with_the_status() {
    let first = status(&held(&Value::Null, &Value::Null), None, &failed("one"), at(100));
    let own = json!({"f:conditions": {"k:{\"type\":\"Reconciled\"}": {".": {}}}});
    let second = status(&held(&first, &own), None, &failed("two"), at(200));
    assert_eq!(condition(&second, RECONCILED)["message"], "two");
    assert_eq!(condition(&second, RECONCILED)["lastTransitionTime"], "1970-01-01T00:01:40Z");
    let third = status(&held(&second, &own), None, &Verdict::success(), at(300));
    assert_eq!(condition(&third, RECONCILED)["lastTransitionTime"], "1970-01-01T00:05:00Z");
}

#[test]
fn a_failure_is_told_when_it_begins_and_when_its_reason_changes() {
    let told = status(&held(&Value::Null, &Value::Null), None, &failed("one"), at(100));
    let object = held(&told, &Value::Null);
    assert!(failed("two").is_told_by(&object));
    let other = Verdict { reason: "Other".into(), ..failed("two") };
    assert!(!other.is_told_by(&object));
    assert!(!Verdict::success().is_told_by(&object));
}

#[test]
fn only_the_status_and_the_version_may_differ() {
    let object = |status: Value, label: &str, version: &str| {
        let object = json!({
            "metadata": {"name": "a", "uid": "u", "resourceVersion": version, "labels": {"l": label}},
            "spec": {"x": 1}, "status": status,
        });
        Raw::parse(object.to_string()).unwrap().hold("tester", &mut Vocabulary::default())
    };
    let before = object(json!({}), "a", "1");
    assert!(!is_otherwise_changed(&before, &object(json!({"x": 1}), "a", "2")));
    assert!(is_otherwise_changed(&before, &object(json!({}), "b", "2")));
}
