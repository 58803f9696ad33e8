//! What is kept, what it costs, and when it is quiet.

use serde_json::json;

use super::*;

const MANAGER: &str = "operator";

fn intent(image: &str) -> Intent {
    Intent::new(
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"image": image}}),
    )
}

fn own() -> Value {
    json!({"f:metadata": {"f:annotations": {"f:kubewright.dev/intent": {}}}, "f:spec": {"f:image": {}}})
}

/// The object that the server made of `intent`, of which `own` is ours.
fn raw(intent: &Intent, own: &Value) -> Raw {
    let mut body = intent.body().clone();
    body["metadata"]["namespace"] = "n".into();
    body["metadata"]["uid"] = "u".into();
    body["metadata"]["resourceVersion"] = "7".into();
    body["metadata"]["generation"] = 3.into();
    body["metadata"]["ownerReferences"] = json!([{"uid": "o", "controller": true}]);
    body["metadata"]["managedFields"] = json!([
        {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {}}},
        {"manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsV1": own},
        {"manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "subresource": "status", "fieldsV1": {"f:status": {}}},
    ]);
    Raw::parse(body.to_string()).unwrap()
}

fn held(intent: &Intent, own: &Value) -> Held {
    raw(intent, own).hold(MANAGER, &mut Vocabulary::default())
}

#[test]
fn everything_that_is_asked_for_is_kept() {
    let intent = intent("a");
    let vocabulary = Vocabulary::of(&[raw(&intent, &own())], MANAGER);
    for mut vocabulary in [Vocabulary::default(), vocabulary] {
        let held = raw(&intent, &own()).hold(MANAGER, &mut vocabulary);
        assert_eq!((held.namespace(), held.name(), held.uid()), ("n", "a", "u"));
        assert_eq!((held.version(), held.generation()), (7, Some(3)));
        assert!(!held.deleting());
        assert_eq!(held.intent_hash(), Some(intent.hash()));
        assert_eq!(held.own_fields(), Some(own()));
        assert_eq!(held.open().own_status_fields(), Some(json!({"f:status": {}})));
        let mut expected = raw(&intent, &own()).value();
        expected["metadata"]["managedFields"] = Value::Null;
        assert_eq!(held.value(), expected);
        assert_eq!(serde_json::from_str::<Value>(&held.text()).unwrap(), expected);
    }
}

#[test]
fn an_object_that_is_not_ours_is_kept_too() {
    let raw = Raw::parse(r#"{"metadata":{"name":"é"}}"#.to_owned()).unwrap();
    let held = raw.hold(MANAGER, &mut Vocabulary::default());
    assert_eq!((held.namespace(), held.name(), held.uid()), ("", "é", ""));
    assert_eq!(
        (held.own_fields(), held.open().own_status_fields(), held.intent_hash()),
        (None, None, None)
    );
    assert_eq!(held.value(), json!({"metadata": {"name": "é"}}));
    assert!(!held.is_quiet(&intent("a")));
}

#[test]
fn an_object_that_does_not_fit_its_type_fails_its_own_read() {
    let held = held(&intent("a"), &own());
    assert!(held.decode::<Vec<String>>().is_err());
    assert!(held.decode::<Value>().is_ok());
}

#[test]
fn it_is_quiet_if_the_intent_was_applied_and_all_of_it_is_ours() {
    assert!(held(&intent("a"), &own()).is_quiet(&intent("a")));
    assert!(!held(&intent("a"), &own()).is_quiet(&intent("b")));
    let mut less = own();
    less["f:spec"] = json!({"f:other": {}});
    assert!(!held(&intent("a"), &less).is_quiet(&intent("a")));
}

#[test]
fn what_an_apply_ended_in_is_accepted_until_something_changes() {
    let mut less = own();
    less["f:spec"] = json!({"f:other": {}});
    let applied = held(&intent("a"), &less);
    applied.applied(&intent("a"));
    assert!(applied.is_quiet(&intent("a")));
    assert!(!applied.is_quiet(&intent("b")));

    let carried = |mut newer: Held| {
        newer.carry_memo(&applied);
        newer.is_quiet(&intent("a"))
    };
    assert!(carried(held(&intent("a"), &less)));
    assert!(!carried(held(&intent("a"), &json!({}))), "fields were taken");
    assert!(!carried(held(&intent("b"), &less)), "another process applied under our name");
    let recreated = raw(&intent("a"), &less).text().replace(r#""uid":"u""#, r#""uid":"v""#);
    let recreated = Raw::parse(recreated).unwrap().hold(MANAGER, &mut Vocabulary::default());
    assert!(!carried(recreated), "another object");
}

#[test]
fn ten_thousand_of_them_fit() {
    let object = |number: usize| {
        let fields = (0..60).map(|field| (format!("field{field}"), json!(field)));
        let padding = Value::Object(fields.collect());
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Thing","metadata":{{"name":"thing-{number}","namespace":"default","uid":"{number:036}","resourceVersion":"{number}","managedFields":[{{"manager":"x","fieldsV1":{padding}}}]}},"spec":{{"number":{number},"padding":{padding}}}}}"#
        );
        Raw::parse(text).unwrap()
    };
    let first: Vec<Raw> = (0..10).map(object).collect();
    let mut vocabulary = Vocabulary::of(&first, MANAGER);
    let held = object(4711).hold(MANAGER, &mut vocabulary);
    assert_eq!(held.value()["spec"]["number"], json!(4711));
    assert!(size_of::<Held>() <= 112, "{}", size_of::<Held>());
    assert!(
        held.block.len() + held.identity.len() < 200,
        "{} {}",
        held.block.len(),
        held.identity.len()
    );
}

#[test]
fn a_huge_first_object_makes_no_huge_vocabulary() {
    let huge = format!(r#"{{"metadata":{{"name":"huge"}},"data":"{}"}}"#, "x".repeat(1 << 20));
    let objects = [huge, r#"{"metadata":{"name":"small"}}"#.to_owned()];
    let objects = objects.map(|text| Raw::parse(text).unwrap());
    let mut vocabulary = Vocabulary::of(&objects, MANAGER);
    let [huge, small] = objects.map(|raw| raw.hold(MANAGER, &mut vocabulary));
    assert_eq!(huge.value()["data"].as_str().map(str::len), Some(1 << 20));
    assert_eq!(small.value(), json!({"metadata": {"name": "small"}}));
}

#[test]
fn what_objects_become_is_learned_a_few_times_at_most() {
    let text = |number: usize, words: usize| {
        let said: Vec<String> = (0..words).map(|word| format!("word number {word}")).collect();
        json!({"metadata": {"name": format!("thing-{number}")}, "status": said}).to_string()
    };
    let object = |number, words| Raw::parse(text(number, words)).unwrap();
    let mut vocabulary = Vocabulary::of(&[object(0, 0), object(1, 0)], MANAGER);
    let first = object(2, 50).hold(MANAGER, &mut vocabulary);
    let [second, fresh] = [50, 0].map(|words| object(3, words).hold(MANAGER, &mut vocabulary));
    assert_eq!(second.value(), serde_json::from_str::<Value>(&text(3, 50)).unwrap());
    assert!(second.block.len() < 60, "{}, {}", second.block.len(), text(3, 50).len());
    assert!(fresh.block.len() < 60, "what is new still is as short: {}", fresh.block.len());
    assert!(first.block.len() < 60, "the first is compressed with itself: {}", first.block.len());
    let mut dictionaries = std::collections::BTreeSet::new();
    for words in (0..800).step_by(8).chain((0..800).step_by(8)) {
        let held = object(4, words).hold(MANAGER, &mut vocabulary);
        assert_eq!(held.value(), serde_json::from_str::<Value>(&text(4, words)).unwrap());
        dictionaries.insert(format!("{:p}", &**held.dictionary.0));
    }
    assert!(dictionaries.len() <= 12, "{}", dictionaries.len());
}

#[test]
fn what_was_found_quiet_is_not_read_again_until_something_changes() {
    let quiet = held(&intent("a"), &own());
    assert!(quiet.memo() == 0 && quiet.is_quiet(&intent("a")));
    assert!(quiet.memo() != 0);
    let mut newer = held(&intent("a"), &own());
    newer.carry_memo(&quiet);
    assert!(newer.memo() != 0);
    let mut less = own();
    less["f:spec"] = json!({"f:other": {}});
    let mut newer = held(&intent("a"), &less);
    newer.carry_memo(&quiet);
    assert!(!newer.is_quiet(&intent("a")), "a field was taken");
}
