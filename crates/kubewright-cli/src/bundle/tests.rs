//! Any file and any value in the place of any other: findings come of it, and nothing worse.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::style::Paint;

/// The memcached operator's own bundle.
fn good() -> BTreeMap<String, Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bundle");
    read(folder.as_ref()).unwrap().files
}

/// The pointers to every value in `value`, itself too.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    let step = |key: &str| format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| pointers(value, &step(key), all)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at, value)| pointers(value, &step(&at.to_string()), all)),
        _ => {}
    }
}

/// Values of every type, and texts that something is made of: versions, names, encoded objects.
fn odd_values() -> Vec<Value> {
    let texts = ["", " ", "-", "0", "[", "[{}]", "{\"a\":1}", "a,b", "v1..2", "ü.ü", "\u{0}", "=="];
    let others = [json!(null), json!(true), json!(-1), json!(1e300), json!([]), json!({})];
    let nested = [json!([null]), json!([{}]), json!([[]]), json!({"": {}}), json!(["a", "a"])];
    let long = json!("a".repeat(70_000));
    let texts = texts.into_iter().map(Value::from);
    texts.chain(others).chain(nested).chain([long]).collect()
}

/// All that is wrong, in words; the words are tried too.
fn said(files: BTreeMap<String, Vec<u8>>) -> String {
    let bundle = Bundle::of(files);
    let _ = (scorecard::tests(&bundle), catalog::with(&bundle, "example.com/a:1", &[]));
    text(&bundle.findings(), Paint::PLAIN)
}

#[test]
fn whatever_stands_in_the_place_of_a_value_is_judged() {
    let files = good();
    let mut tried = 0;
    let odd = odd_values();
    for (file, content) in &files {
        let object = parse::documents(content).unwrap().remove(0);
        let mut places = Vec::new();
        pointers(&object, "", &mut places);
        for (at, place) in places.iter().enumerate() {
            // Two of them, others at the next place: all at every place would take minutes.
            for value in [&odd[at % odd.len()], &odd[(at * 7 + 3) % odd.len()]] {
                let mut changed = object.clone();
                *changed.pointer_mut(place).unwrap() = value.clone();
                let mut files = files.clone();
                files.insert(file.clone(), changed.to_string().into_bytes());
                said(files);
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let laughs = (1..12).map(|level| {
        let before = format!("*a{}, ", level - 1).repeat(10);
        format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(", "))
    });
    let laughs = laughs.collect::<Vec<_>>().concat();
    let texts = [
        format!("a0: &a0 ha\n{laughs}"),
        "[".repeat(200_000),
        "a: ".repeat(50_000),
        format!("kind: {}", "{a: ".repeat(100_000)),
    ];
    for text in texts {
        let files = BTreeMap::from([("manifests/a.yaml".to_owned(), text.into_bytes())]);
        assert!(said(files).contains("error content/object"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_judged(
        file in "manifests/[a-z]{1,3}\\.yaml|metadata/annotations\\.yaml|tests/scorecard/config\\.yaml",
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        text in "[a-z:{}\\[\\]&*!|>'\", \n-]{0,300}",
    ) {
        for content in [bytes, text.into_bytes()] {
            let mut files = good();
            files.insert(file.clone(), content);
            said(files);
        }
    }
}
