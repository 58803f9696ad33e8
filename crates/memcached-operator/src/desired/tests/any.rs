//! Any JSON for an object, from any older definition: no panic, and what is desired fits together. What was
//! found once is kept in `fuzz/seeds/memcached` and tried for ever.

use std::path::Path;

use memcached_api::v1alpha1::Memcached;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::desired::desired;
use crate::error::Error;
use crate::fixtures::observed;
use crate::invariants::violations;
use crate::reconcile::validate::validate;
use crate::status::{Progress, finalizing, status};

/// What a pass makes of it, without the API server.
fn pass(object: &Value) {
    let Ok(memcached) = serde_json::from_value::<Memcached>(object.clone()) else { return };
    let cluster = validate(&memcached, None);
    let failure = cluster.clone().map_or_else(|invalid| Some(Error::from(invalid)), |_| None);
    let _ = finalizing(&memcached);
    if let Ok(cluster) = &cluster {
        let desired = desired(cluster);
        assert_eq!(desired, crate::desired::desired(cluster), "twice the same");
        let violations = violations(&desired);
        assert!(violations.is_empty(), "{object}: {violations:?}");
        let progress = Progress::Applied(&desired.deployment);
        let told = status(&memcached, Some(cluster), &observed(1, 2), progress);
        assert_eq!(told.observed_generation, memcached.metadata.generation);
    }
    if let Some(failure) = &failure {
        let told = status(&memcached, None, &observed(0, 0), Progress::Failed(failure));
        assert!(!told.conditions.is_empty());
    }
}

/// Texts that are legal somewhere, and others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".*",
        "[a-z0-9.-]{1,253}",
        "[0-9]{1,20}(m|k|Ki|Mi|Gi|E|e[0-9]{1,3})?",
        Just("a\r\n\u{1b}[31m\"}".to_owned()),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Mostly what its type takes, so that most get further than its decoding.
fn field(fitting: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    prop_oneof![8 => fitting, 1 => json_value()]
}

fn amounts() -> impl Strategy<Value = Value> {
    let amount = prop_oneof![any::<i64>().prop_map(Value::from), text().prop_map(Value::from)];
    prop::collection::hash_map(text(), amount, 0..4)
        .prop_map(|amounts| Value::Object(amounts.into_iter().collect()))
}

fn object() -> impl Strategy<Value = Value> {
    let number = || field(any::<i32>().prop_map(Value::from));
    let size = prop_oneof![number(), field((0..=1000).prop_map(Value::from))];
    let port = prop_oneof![number(), field((1..=65535).prop_map(Value::from))];
    let image = field(text().prop_map(Value::from));
    let name = field("[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?".prop_map(Value::from));
    (name, size, port, image, field(amounts()), field(amounts()), json_value()).prop_map(
        |(name, size, port, image, limits, requests, status)| {
            let mut object = json!({
                "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
                "metadata": {"name": name, "namespace": "caches", "uid": "u", "generation": 2},
                "spec": {"size": size, "containerPort": port, "image": image,
                    "resources": {"limits": limits, "requests": requests}},
            });
            if status.is_object() {
                object["status"] = status;
            }
            object
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_is_served_or_told_what_is_wrong_with_it(object in object()) {
        pass(&object);
    }

    #[test]
    fn any_json_at_all_costs_nothing(object in json_value()) {
        pass(&object);
    }
}

#[test]
fn what_was_found_before_is_found_no_more() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/memcached");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let text = std::fs::read_to_string(seed.unwrap().path()).unwrap();
        if let Ok(object) = serde_json::from_str(&text) {
            pass(&object);
        }
        count += 1;
    }
    assert!(count >= 3, "only {count} seeds were found");
}
