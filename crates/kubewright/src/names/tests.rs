//! Rules of Kubernetes as oracles, over many names of many shapes.

use std::collections::HashMap;

use super::*;

type Function = fn(&str) -> String;
type Rule = fn(&str) -> bool;

fn is_label_value(name: &str) -> bool {
    let is_end = |one: char| one.is_ascii_alphanumeric();
    name.is_empty()
        || (name.len() <= 63
            && name.starts_with(is_end)
            && name.ends_with(is_end)
            && name.chars().all(|one| is_end(one) || "-_.".contains(one)))
}

fn is_label(name: &str) -> bool {
    is_label_value(name)
        && !name.is_empty()
        && !name.contains(['_', '.'])
        && name == name.to_lowercase()
}

fn is_service(name: &str) -> bool {
    is_label(name) && name.starts_with(|one: char| one.is_ascii_lowercase())
}

const FUNCTIONS: [(Function, Rule); 3] =
    [(label_value, is_label_value), (dns_label, is_label), (service_name, is_service)];

/// Names of all lengths up to 253 from several alphabets, the same in every run.
fn many_names() -> Vec<String> {
    let alphabets = ["abcz019-", "ab.-", "aZ_.-/:", "aé漢😀-", "-._", "0123456789", "\0 \n\"a"];
    let mut state = 42_u64;
    let mut below = move |limit: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    let mut names = vec![String::new()];
    for alphabet in alphabets {
        let letters: Vec<char> = alphabet.chars().collect();
        for round in 0..3000 {
            let length = if round % 2 == 0 { below(254) } else { below(12) };
            names.push((0..length).map(|_| letters[below(letters.len())]).collect());
        }
    }
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_result_is_legal_and_a_legal_name_is_its_own_result() {
    for name in many_names() {
        for (function, is_legal) in FUNCTIONS {
            let result = function(&name);
            assert!(is_legal(&result), "{name:?} became {result:?}");
            assert_eq!(result == name, is_legal(&name), "{name:?} became {result:?}");
            assert_eq!(function(&result), result);
        }
    }
}

#[test]
fn different_names_have_different_results() {
    let mut names = many_names();
    let long = "x".repeat(245);
    names.extend((0..20_000).map(|number| format!("{long}-{number}")));
    names.extend((0..2000).map(|number| format!("{number:08}{long}")));
    for (function, _) in FUNCTIONS {
        let mut seen = HashMap::new();
        for name in &names {
            if let Some(other) = seen.insert(function(name), name) {
                panic!("{name:?} and {other:?} both became {}", function(name));
            }
        }
    }
}

#[test]
fn a_result_says_where_it_comes_from_and_never_changes() {
    let cases: [(Function, &str, &str); 10] = [
        (label_value, "", ""),
        (label_value, "a/b", "a-b-e620c3190468cf61"),
        (label_value, "_a_", "a-b929341a0cbca1e6"),
        (dns_label, "", "cbf29ce484222325"),
        (dns_label, "Guestbook", "guestbook-ec00915039044fce"),
        (dns_label, "guestbook.v1", "guestbook-v1-09189ac1739d8569"),
        (dns_label, "漢字", "e59f68cdb8251392"),
        (service_name, "", "x-cbf29ce484222325"),
        (service_name, "1-guestbook", "x1-guestbook-2c27f86849fb3b90"),
        (service_name, "--a", "a-de7d1017de1bb36a"),
    ];
    for (function, name, expected) in cases {
        assert_eq!(function(name), expected, "{name}");
    }
    let long = dns_label(&"a".repeat(253));
    assert_eq!((long.len(), &long[..47]), (63, &*format!("{}-", "a".repeat(46))));
}

#[test]
fn the_hash_is_fnv_1a() {
    // Of the published test vectors.
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}
