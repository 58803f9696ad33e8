//! Whether writing a status would change anything. Only compares; the status is written elsewhere.
//!
//! Unlike the fields of a child, a status has no hash that the server keeps for us, so its values are
//! compared: every value that is wanted must be there, and nothing that is ours may be left over.

use serde_json::{Map, Value};

use crate::quiet::{self, items::Entries, same::same};

/// True if applying `desired` as our status would change nothing. `held_status` is the status as it is;
/// `own` the set of the fields of the status that are ours, or null.
///
/// What the server fills in and what others wrote (their conditions, their fields) does not matter.
pub(crate) fn is_settled(desired: &Value, held_status: &Value, own: &Value) -> bool {
    let own = own.as_object().and_then(|own| quiet::field("status", own));
    holds(desired, held_status, own) && own.is_none_or(|own| is_wanted(own, desired))
}

/// True if all that is desired is there.
fn holds(desired: &Value, held: &Value, own: Option<&Map<String, Value>>) -> bool {
    match (desired, held) {
        (Value::Null, _) => true,
        (Value::Object(desired), held) if own.is_none_or(|own| !own.is_empty()) => {
            desired.iter().all(|(key, desired)| {
                let own = own.and_then(|own| quiet::field(key, own));
                holds(desired, held.get(key).unwrap_or(&Value::Null), own)
            })
        }
        (Value::Array(desired), Value::Array(held)) => holds_items(desired, held, own),
        _ => same(desired, held),
    }
}

fn holds_items(desired: &[Value], held: &[Value], own: Option<&Map<String, Value>>) -> bool {
    let entries = own.map(Entries::of).unwrap_or_default();
    let conditions = |items: &[Value]| items.iter().all(|item| item.get("type").is_some());
    let keyed = match own {
        // Nothing is wanted of a list of conditions, and all that is in it is of others.
        Some(own) if own.is_empty() => {
            return desired.is_empty() && conditions(held) || equal(desired, held);
        }
        Some(_) => entries.len() > 0,
        None => conditions(desired) && conditions(held),
    };
    if !keyed {
        return equal(desired, held);
    }
    let places = entries.find(desired, held);
    let sets = entries.assign(desired);
    desired.iter().zip(places).zip(sets).all(|((desired, place), own)| match place {
        Some(place) => holds(desired, &held[place], own),
        None => held.contains(desired),
    })
}

fn equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
}

/// True if every field of the set is still wanted.
fn is_wanted(own: &Map<String, Value>, desired: &Value) -> bool {
    let mut fields = own.iter().filter_map(|(name, set)| Some((name.strip_prefix("f:")?, set)));
    let fields_wanted = fields.all(|(key, set)| {
        let desired = desired.get(key).filter(|desired| !desired.is_null());
        desired.is_some_and(|desired| set.as_object().is_none_or(|set| is_wanted(set, desired)))
    });
    let entries = Entries::of(own);
    if !fields_wanted || entries.len() == 0 {
        return fields_wanted;
    }
    let items = desired.as_array().map(Vec::as_slice).unwrap_or_default();
    let sets = entries.assign(items);
    let wanted =
        items.iter().zip(&sets).filter(|(item, set)| set.is_some_and(|set| is_wanted(set, item)));
    wanted.count() == entries.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settled(desired: &Value, held: &Value, own: &Value) -> bool {
        is_settled(desired, held, &json!({"f:status": own}))
    }

    #[test]
    fn a_status_is_settled_if_all_that_is_wanted_is_there() {
        let ready = json!({"type": "Ready", "status": "True"});
        let foreign = json!({"type": "Foreign", "status": "False"});
        for (desired, held, expected) in [
            (json!({}), Value::Null, true),
            (json!({"a": null}), Value::Null, true),
            (json!({"a": {"b": null}}), json!({}), true),
            (json!({"a": 1}), Value::Null, false),
            (json!({"a": 1}), json!({"a": 1, "foreign": 2}), true),
            (json!({"a": 1}), json!({"a": 2}), false),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "default": 2}}), true),
            (json!({"l": [1, 2]}), json!({"l": [1, 2]}), true),
            (json!({"l": [1, 2]}), json!({"l": [2, 1]}), false),
            (json!({"l": [{"a": 1}]}), json!({"l": [{"a": 1, "b": 1}]}), false),
            (json!({"l": []}), json!({"l": [1]}), false),
            (json!({"conditions": [ready]}), json!({"conditions": [foreign, ready]}), true),
            (json!({"conditions": [ready]}), json!({"conditions": [foreign]}), false),
            (json!({"t": "2026-01-01T00:00:00Z"}), json!({"t": "2026-01-01T00:00:00.000Z"}), true),
            (json!({"t": "2026-01-01T00:00:00Z"}), json!({"t": "2026-01-01T00:00:01Z"}), false),
        ] {
            assert_eq!(is_settled(&desired, &held, &Value::Null), expected, "{desired} {held}");
        }
    }

    #[test]
    fn a_status_is_not_settled_while_something_of_ours_is_left_over() {
        let ready = json!({"type": "Ready", "status": "True"});
        let both = json!({"conditions": [ready, {"type": "Old", "status": "True"}]});
        let ours = json!({"f:conditions": {
            "k:{\"type\":\"Ready\"}": {".": {}, "f:type": {}, "f:status": {}},
        }});
        let mut also_old = ours.clone();
        also_old["f:conditions"]["k:{\"type\":\"Old\"}"] = json!({".": {}, "f:type": {}});
        let mut also_message = ours.clone();
        also_message["f:conditions"]["k:{\"type\":\"Ready\"}"]["f:message"] = json!({});
        let desired = json!({"conditions": [ready]});
        assert!(settled(&desired, &both, &ours));
        assert!(!settled(&desired, &both, &also_old));
        assert!(!settled(&desired, &both, &also_message));
        assert!(!settled(&json!({}), &both, &ours));
        assert!(!settled(&json!({"conditions": null}), &both, &ours));
        assert!(!settled(
            &json!({"a": 1}),
            &json!({"a": 1, "b": 1}),
            &json!({"f:a": {}, "f:b": {}})
        ));
        let nested = json!({"f:a": {"f:b": {}, "f:c": {}}});
        assert!(!settled(&json!({"a": {"b": 1}}), &json!({"a": {"b": 1, "c": 1}}), &nested));
    }

    #[test]
    fn items_are_matched_by_the_keys_of_the_set() {
        let own =
            json!({"f:members": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:ready": {}}}});
        let held =
            json!({"members": [{"name": "foreign"}, {"name": "a", "ready": true, "default": 1}]});
        assert!(settled(&json!({"members": [{"name": "a", "ready": true}]}), &held, &own));
        assert!(!settled(&json!({"members": [{"name": "a", "ready": false}]}), &held, &own));
        assert!(!settled(&json!({"members": [{"name": "b", "ready": true}]}), &held, &own));
        let two = json!({"members": [{"name": "a", "ready": true}, {"name": "b"}]});
        assert!(!settled(&two, &held, &own));
    }

    #[test]
    fn what_has_one_owner_is_compared_as_a_whole() {
        let own = json!({"f:list": {}, "f:map": {}});
        let status = |list: Value, map: Value| json!({"list": list, "map": map});
        let held = status(json!([{"a": 1, "b": 2}]), json!({"c": 1, "d": 2}));
        assert!(settled(&held, &held, &own));
        assert!(!settled(&status(json!([{"a": 1}]), json!({"c": 1, "d": 2})), &held, &own));
        assert!(!settled(&status(json!([{"a": 1, "b": 2}]), json!({"c": 1})), &held, &own));
        assert!(!settled(&status(json!([]), json!({"c": 1, "d": 2})), &held, &own));
    }

    #[test]
    fn an_empty_list_of_conditions_leaves_those_of_others_alone() {
        let held = json!({"conditions": [{"type": "Foreign", "status": "True"}]});
        assert!(settled(&json!({"conditions": []}), &held, &json!({"f:conditions": {}})));
    }

    #[test]
    fn values_of_a_plain_set_are_looked_for() {
        let own = json!({"f:zones": {"v:\"a\"": {}, "v:\"b\"": {}}});
        let held = json!({"zones": ["foreign", "b", "a"]});
        assert!(settled(&json!({"zones": ["a", "b"]}), &held, &own));
        assert!(!settled(&json!({"zones": ["a"]}), &held, &own));
        assert!(!settled(&json!({"zones": ["a", "b", "c"]}), &held, &own));
    }
}
