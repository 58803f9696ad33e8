//! What is stated, what is made of it, and whether an API server accepts that.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kubewright_testenv::Env;
use serde_json::json;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn settled(
    stated: impl IntoIterator<Item = Condition>,
    before: &[Condition],
    second: i64,
) -> Vec<Condition> {
    let mut conditions = stated.into_iter().collect();
    settle(&mut conditions, before, Some(7), at(second));
    conditions
}

#[test]
fn the_time_of_transition_changes_only_with_the_status() {
    let first = settled([new("Ready", Status::False, "Starting", "0 of 3")], &[], 100);
    assert_eq!(first[0].last_transition_time, Time(at(100)));

    let same = settled([new("Ready", Status::False, "Waiting", "2 of 3")], &first, 200);
    assert_eq!(same[0].last_transition_time, Time(at(100)));
    assert_eq!((same[0].reason.as_str(), same[0].message.as_str()), ("Waiting", "2 of 3"));

    let ready = settled([new("Ready", Status::True, "AllReady", "3 of 3")], &same, 300);
    assert_eq!(ready[0].last_transition_time, Time(at(300)));

    let other = settled([new("Other", Status::True, "AllReady", "")], &ready, 400);
    assert_eq!(other[0].last_transition_time, Time(at(400)));
}

#[test]
fn a_time_that_the_author_made_up_does_not_count() {
    let mut stated = new("Ready", true, "AllReady", "");
    stated.last_transition_time = Time(at(999));
    assert_eq!(settled([stated], &[], 100)[0].last_transition_time, Time(at(100)));
}

#[test]
fn to_settle_what_is_settled_changes_nothing() {
    let stated = [new("Ready", true, "has spaces", "x".repeat(40_000)), new("b", false, "", "")];
    let first = settled(stated.clone(), &[], 100);
    assert_eq!(settled(stated, &first, 200), first);
    assert_eq!(settled(first.clone(), &first, 300), first);
}

#[test]
fn the_generation_is_filled_in_where_it_was_left_out() {
    let mut of_another = new("Other", true, "Seen", "");
    of_another.observed_generation = Some(3);
    let mut of_none = new("None", true, "Seen", "");
    of_none.observed_generation = Some(-1);
    let conditions = settled([new("Ready", true, "Seen", ""), of_another, of_none], &[], 1);
    let generations: Vec<_> = conditions.iter().map(|one| one.observed_generation).collect();
    assert_eq!(generations, [Some(7), Some(3), Some(7)]);
}

#[test]
fn of_several_conditions_of_one_type_the_last_wins_in_the_place_of_the_first() {
    let stated = [
        new("A", true, "First", ""),
        new("B", true, "Only", ""),
        new("A", false, "Second", ""),
        new("A", Status::Unknown, "Third", ""),
    ];
    let conditions = settled(stated, &[], 1);
    let seen: Vec<_> =
        conditions.iter().map(|one| (one.type_.as_str(), one.reason.as_str())).collect();
    assert_eq!(seen, [("A", "Third"), ("B", "Only")]);
}

#[test]
fn a_condition_is_found_by_its_type() {
    let mut conditions = vec![new("A", true, "Yes", ""), new("B", false, "No", "")];
    assert_eq!(find(&conditions, "B").map(|one| one.reason.as_str()), Some("No"));
    assert!(is_true(&conditions, "A"));
    assert!(!is_true(&conditions, "B") && !is_true(&conditions, "C"));

    set(&mut conditions, new("B", true, "Now", ""));
    set(&mut conditions, new("C", true, "New", ""));
    let types: Vec<_> = conditions.iter().map(|one| one.type_.as_str()).collect();
    assert_eq!(types, ["A", "B", "C"]);
    assert!(is_true(&conditions, "B"));
}

#[test]
fn what_is_illegal_is_made_legal_and_the_rest_is_left_alone() {
    let reasons = [
        ("AllReady", "AllReady"),
        ("a,b:c_", "a,b:c_"),
        ("", "Unknown"),
        ("123", "Unknown"),
        ("1Pod", "Pod"),
        ("not found", "not_found"),
        ("Waiting:", "Waiting"),
        ("Grün", "Gr_n"),
    ];
    for (given, expected) in reasons {
        assert_eq!(settled([new("A", true, given, "")], &[], 1)[0].reason, expected);
    }
    let types = [
        ("Ready", "Ready"),
        ("example.com/Ready", "example.com/Ready"),
        ("Example.com/Ready", "Example.com-Ready"),
        ("a/b/c", "a-b-c"),
        ("", "Unknown"),
        ("-Ready-", "Ready"),
        ("is ready?", "is-ready"),
    ];
    for (given, expected) in types {
        assert_eq!(settled([new(given, true, "A", "")], &[], 1)[0].type_, expected);
    }
    let mut stated = new("A", true, "A", "");
    stated.status = "true".to_owned();
    assert_eq!(settled([stated], &[], 1)[0].status, "Unknown");
}

#[kubewright_testenv::test]
async fn the_api_server_accepts_whatever_an_author_states(env: Env) {
    env.install(&[definition()]).await;
    let kind = GroupVersionKind::gvk("conditions.example.com", "v1", "Stated");
    let resource = ApiResource::from_gvk_with_plural(&kind, "stateds");
    let api: Api<DynamicObject> = Api::namespaced_with(env.client(), env.namespace(), &resource);
    api.create(&PostParams::default(), &DynamicObject::new("a", &resource)).await.unwrap();

    let long = |text: &str| text.repeat(40_000);
    let texts = ["", "-", "a b", "ä", "9", "a/B", "A/b", "x/y/z", ".a.", "a:,", "\u{0}\n", "😀"];
    let mut stated: Vec<_> = texts.iter().map(|text| new(*text, true, *text, *text)).collect();
    stated.extend(["a", "ä", "😀", "a/", "-", "B,"].map(|text| {
        let mut condition = new(long(text), false, long(text), long(text));
        condition.status = long(text);
        condition
    }));
    for condition in settled(stated, &[], 1_700_000_000) {
        let status = json!({ "status": { "conditions": [condition] } });
        let patched = api.patch_status("a", &PatchParams::default(), &Patch::Merge(&status)).await;
        let got = patched.unwrap_or_else(|error| panic!("{condition:?}: {error}"));
        assert_eq!(got.data["status"], status["status"]);
    }
}

/// A kind whose conditions have the schema that Kubernetes itself uses for them.
fn definition() -> CustomResourceDefinition {
    let condition = json!({
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": { "type": "string", "maxLength": 316, "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$" },
            "status": { "type": "string", "enum": ["True", "False", "Unknown"] },
            "reason": { "type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
            "message": { "type": "string", "maxLength": 32768 },
            "lastTransitionTime": { "type": "string", "format": "date-time" },
            "observedGeneration": { "type": "integer", "format": "int64", "minimum": 0 },
        },
    });
    let conditions = json!({ "type": "array", "maxItems": 8, "items": condition });
    let status = json!({ "type": "object", "properties": { "conditions": conditions } });
    let definition = json!({
        "metadata": { "name": "stateds.conditions.example.com" },
        "spec": {
            "group": "conditions.example.com",
            "scope": "Namespaced",
            "names": { "kind": "Stated", "plural": "stateds" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "status": status } } },
            }],
        },
    });
    serde_json::from_value(definition).unwrap()
}
