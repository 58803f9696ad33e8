//! Any bytes and any order of events on a watch: no panic, and the cache ends with the newest of each object.

use std::collections::HashMap;

use kube::core::WatchEvent;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Takes a line of a watch in, as the watch does; what is not understood is left out.
fn take_in(store: &Store, line: &[u8]) {
    let Ok(event) = serde_json::from_slice::<WatchEvent<Raw>>(line) else { return };
    match event {
        WatchEvent::Added(raw) | WatchEvent::Modified(raw) => {
            if store.admits(&raw) {
                let held = store.put(raw, Arrival::Live);
                let _ = (held.value(), held.own_fields(), held.deleting(), held.generation());
            }
        }
        WatchEvent::Deleted(raw) => store.remove(&raw),
        WatchEvent::Bookmark(_) | WatchEvent::Error(_) => {}
    }
}

/// As the API server writes it: the type comes first, and nobody else may.
fn line(type_: &str, object: &Value) -> String {
    format!(r#"{{"type":"{type_}","object":{object}}}"#)
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        "[0-9]{1,25}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let name = prop_oneof!["[a-z]{1,9}", Just("f:metadata".to_owned()), Just("v1".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name, inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// An object whose metadata may be anything, field by field.
fn odd_object() -> impl Strategy<Value = Value> {
    let names = prop::sample::subsequence(
        vec![
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "generation",
            "deletionTimestamp",
            "labels",
            "annotations",
            "ownerReferences",
            "managedFields",
            "finalizers",
        ],
        0..11,
    );
    (names, prop::collection::vec(json_value(), 11), json_value()).prop_map(
        |(names, values, rest)| {
            let metadata =
                names.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value));
            json!({"metadata": Value::Object(metadata.collect()), "status": rest})
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_taken_in_or_left_out(line in prop::collection::vec(any::<u8>(), 0..200)) {
        take_in(&store(Mapping::Owner), &line);
    }

    #[test]
    fn any_object_is_taken_in_or_left_out(type_ in "ADDED|MODIFIED|DELETED|BOOKMARK|ERROR", object in odd_object()) {
        let line = line(&type_, &object);
        for mapping in [Mapping::Itself, Mapping::Owner, Mapping::OwnerLabel] {
            take_in(&store(mapping), line.as_bytes());
        }
    }

    /// Four names, each of which lives several lives: whatever is repeated or comes in another order, no
    /// object gets older than the newest that was seen of it.
    #[test]
    fn whatever_is_repeated_or_reordered_nothing_gets_older(
        events in prop::collection::vec((0_u8..4, 1_u64..40, any::<bool>()), 1..60)
    ) {
        let store = store(Mapping::Owner);
        let mut newest: HashMap<String, u64> = HashMap::new();
        for (name, version, modified) in events {
            let name = format!("n{name}");
            let type_ = if modified { "MODIFIED" } else { "ADDED" };
            let object = raw(&name, "1", version, "p");
            let object: Value = serde_json::from_str(object.text()).unwrap();
            take_in(&store, line(type_, &object).as_bytes());
            let newest = newest.entry(name.clone()).or_default();
            *newest = version.max(*newest);
            prop_assert_eq!(self::version(&store, &name), Some(*newest));
        }
    }
}
