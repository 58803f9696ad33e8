//! The difference between two states of a typed object, as a JSON patch of what was really sent. Pure.
//!
//! What was sent may have fields that the type does not know, and lacks those that the type always
//! writes: so only what differs between the two states is carried over.

use serde_json::{Map, Value, json};

use crate::write::pointer_step;

/// What makes of `sent` what `before` became in `after`.
pub(super) fn changes(sent: &Value, before: &Value, after: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    compare(Some(sent), before, after, "", &mut operations);
    operations
}

fn compare(
    sent: Option<&Value>,
    before: &Value,
    after: &Value,
    path: &str,
    operations: &mut Vec<Value>,
) {
    if before == after {
        return;
    }
    match (sent, before, after) {
        (Some(Value::Object(sent)), Value::Object(before), Value::Object(after)) => {
            members(sent, before, after, path, operations);
        }
        _ => operations.push(json!({"op": "add", "path": path, "value": after})),
    }
}

fn members(
    sent: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &str,
    operations: &mut Vec<Value>,
) {
    for key in before.keys().filter(|key| !after.contains_key(*key) && sent.contains_key(*key)) {
        operations.push(json!({"op": "remove", "path": format!("{path}/{}", pointer_step(key))}));
    }
    for (key, after) in after {
        let before = before.get(key).unwrap_or(&Value::Null);
        compare(sent.get(key), before, after, &format!("{path}/{}", pointer_step(key)), operations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_needs_nothing() {
        let typed = json!({"spec": {"size": 1, "list": []}});
        assert!(changes(&json!({"spec": {"size": 1}}), &typed, &typed).is_empty());
    }

    #[test]
    fn unknown_fields_are_not_touched_and_missing_parents_are_added_whole() {
        let sent = json!({"spec": {"unknown": 1}});
        let before = json!({"spec": {"size": null, "pool": {"name": ""}}});
        let after = json!({"spec": {"size": 3, "pool": {"name": "a"}}});
        let expected = json!([
            {"op": "add", "path": "/spec/pool", "value": {"name": "a"}},
            {"op": "add", "path": "/spec/size", "value": 3},
        ]);
        assert_eq!(Value::Array(changes(&sent, &before, &after)), expected);
    }

    #[test]
    fn what_was_taken_away_is_removed_only_if_it_was_there() {
        let (before, after) = (json!({"a/b": 1, "c": 1}), json!({}));
        let expected = json!([{"op": "remove", "path": "/a~1b"}]);
        assert_eq!(Value::Array(changes(&json!({"a/b": 1}), &before, &after)), expected);
    }
}
