//! The difference between two states of a typed object, as a JSON patch of what was really sent. Pure.
//!
//! What was sent may have fields that the type does not know, and lacks those that the type always
//! writes: so only what differs between the two states is carried over.
//!
//! All three are read as text, and only as deep as they differ: a tree of a large object takes ten times its text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Result, Value, from_str, json};

use crate::write::pointer_step;

type Members<'a> = BTreeMap<String, &'a RawValue>;

const NULL: &str = "null";

/// What makes of `sent` what `before` became in `after`.
pub(super) fn changes(sent: &str, before: &str, after: &str) -> Result<Vec<Value>> {
    let mut operations = Vec::new();
    compare(Some(sent), before, after, "", &mut operations)?;
    Ok(operations)
}

fn compare(
    sent: Option<&str>,
    before: &str,
    after: &str,
    path: &str,
    operations: &mut Vec<Value>,
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    if let (Some(sent), Some(before), Some(after)) =
        (sent.and_then(members), members(before), members(after))
    {
        return compare_members(&sent, &before, &after, path, operations);
    }
    let value: Value = from_str(after)?;
    // A map may write its members in another order each time.
    if from_str::<Value>(before)? != value {
        operations.push(json!({"op": "add", "path": path, "value": value}));
    }
    Ok(())
}

fn compare_members(
    sent: &Members<'_>,
    before: &Members<'_>,
    after: &Members<'_>,
    path: &str,
    operations: &mut Vec<Value>,
) -> Result<()> {
    for key in before.keys().filter(|key| !after.contains_key(*key) && sent.contains_key(*key)) {
        operations.push(json!({"op": "remove", "path": format!("{path}/{}", pointer_step(key))}));
    }
    for (key, after) in after {
        let before = before.get(key).map_or(NULL, |before| before.get());
        let sent = sent.get(key).map(|sent| sent.get());
        let path = format!("{path}/{}", pointer_step(key));
        compare(sent, before, after.get(), &path, operations)?;
    }
    Ok(())
}

/// Those of an object.
fn members(text: &str) -> Option<Members<'_>> {
    from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(sent: &Value, before: &Value, after: &Value) -> Vec<Value> {
        super::changes(&sent.to_string(), &before.to_string(), &after.to_string()).unwrap()
    }

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

    #[test]
    fn the_same_in_another_order_needs_nothing() {
        let before = r#"{"list":[{"a":1,"b":2}],"map":{"c":3,"d":4}}"#;
        let after = r#"{"map":{"d":4,"c":3},"list":[{"b":2,"a":1}]}"#;
        assert_eq!(super::changes(before, before, after).unwrap(), Vec::<Value>::new());
    }
}
