//! Two readers must understand the text as it was meant: ours, and Go's by way of kubectl.

use std::io::Write as _;
use std::process::Stdio;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_testenv::Env;
use serde_json::{Map, Value, json};

use super::*;

#[rustfmt::skip]
const NASTY: &[&str] = &[
    "", " ", "a", "yes", "No", "ON", "off", "y", "N", "true", "False", "null", "NULL", "~", "~/x",
    "1", "-1", "+1", "1.0", ".5", "1.", "1e3", "1E+3", "0x1F", "-0x1F", "0o17", "017", "0b11",
    "1_000", "+_1", "._5", "1:30", "190:20:30.15", "2001-02-03", "2001-02-03T04:05:06Z",
    "2001-12-14 21:59:43.10 -5", ".inf", "-.INF", "+.inf", ".nan", "inf", "NaN", "=", "<<", "<",
    "10.0.0.1", "1Gi", "500m", "1.2.3", "12e", "v1", " lead", "trail ", "a: b", "a:", ":a", "a:b",
    "a #b", "#a", "a#b", "- a", "-", "--", "---", "--- a", "--flag=1", "-v", "-1x", "...", "....a",
    "? a", "?", "[a]", "{a}", "a, b", "*a", "&a", "!a", "!!str a", "|", ">", "%a", "@a", "`a",
    "'a'", "\"a\"", "it's", "\\", "C:\\dir", "a\"b'c", "a\tb", "\ta", "a\t", "a\rb", "a\r\nb",
    "\u{0}", "\u{7f}", "\u{85}", "a\u{a0}", "\u{2028}", "\u{feff}a", "\u{fffd}", "\u{fffe}",
    "\u{ffff}", "😀", "ümlaut", "a\nb", "a\nb\n", "a\n\nb\n\n", "a\n  b\n", " a\nb", "\na", "\n",
    "a\n", "a\n\tb\n", "a\n \n", "a\n# b\n", "a\n---\nb\n", "key: |\n  x\n", "a\n\u{85}b",
    ".spec.replicas", "$(VAR)", "(a)", "{{ .Values.x }}",
];

/// Strings of the letters that mean something to YAML, always the same ones.
fn strings() -> Vec<String> {
    let letters: Vec<char> = " -:#?.,0123eExo_+tTnNyY~'\"\\\n\t[{&*!|>%@`aé".chars().collect();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut strings: Vec<String> = NASTY.iter().map(ToString::to_string).collect();
    for _ in 0..2000 {
        let length = next(8);
        strings.push((0..length).map(|_| letters[next(letters.len())]).collect());
    }
    strings
}

/// Each string as a key and as a value, in objects, lists, and lists of lists.
fn everywhere(strings: &[String]) -> Value {
    let fields: Map<_, _> = strings.iter().map(|one| (one.clone(), json!(one))).collect();
    let objects: Vec<_> =
        strings.iter().map(|one| json!({ "a": one, "b": [one, [one]] })).collect();
    json!({ "fields": fields, "objects": objects, "list": strings, "empty": [{}, [], ""] })
}

#[test]
fn what_is_written_is_read_back() {
    let value = everywhere(&strings());
    let text = yaml(&value).unwrap();
    assert_eq!(serde_saphyr::from_str::<Value>(&text).unwrap(), value, "{text}");
    for one in strings() {
        let text = yaml(&one).unwrap();
        assert_eq!(serde_saphyr::from_str::<Value>(&text).unwrap(), json!(one), "{text}");
    }
}

#[test]
fn numbers_are_short_and_keep_their_value() {
    for (number, text) in [
        (json!(0.0), "0\n"),
        (json!(65535.0), "65535\n"),
        (json!(-0.5), "-0.5\n"),
        (json!(u64::MAX), "18446744073709551615\n"),
        (json!(i64::MIN), "-9223372036854775808\n"),
    ] {
        assert_eq!(yaml(&number).unwrap(), text);
    }
    let read: Value = serde_saphyr::from_str(&yaml(&json!(1e300)).unwrap()).unwrap();
    assert_eq!(read.as_f64(), Some(1e300));
}

#[test]
fn an_object_looks_as_kubectl_prints_it() {
    let value = json!({
        "status": {}, "rules": [{ "verbs": ["get"], "apiGroups": [""] }], "kind": "Role",
        "spec": { "port": "8080", "on": true, "text": "one\ntwo\n", "args": ["--a=b", "it's: \"so\""] },
        "metadata": { "name": "a", "annotations": null }, "apiVersion": "v1",
    });
    let expected = "\
apiVersion: v1
kind: Role
metadata:
  annotations: null
  name: a
spec:
  args:
  - --a=b
  - 'it''s: \"so\"'
  \"on\": true
  port: \"8080\"
  text: |
    one
    two
status: {}
rules:
- apiGroups:
  - \"\"
  verbs:
  - get
";
    assert_eq!(yaml(&value).unwrap(), expected);
}

#[test]
fn documents_are_separated() {
    assert_eq!(
        documents(&[json!({ "a": 1 }), json!({ "b": [2] })]).unwrap(),
        "a: 1\n---\nb:\n- 2\n"
    );
}

#[test]
fn what_is_not_json_is_an_error_with_its_cause() {
    let error = yaml(&std::collections::BTreeMap::from([(vec![1], 1)])).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}

fn kubectl(env: &Env, arguments: &[&str], input: &str) -> Vec<u8> {
    let mut command = env.kubectl();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[kubewright_testenv::test]
async fn kubectl_and_the_api_server_read_the_same(env: Env) {
    let map = |name: &str, data: Map<String, Value>| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data });
    let both = map("both", strings().into_iter().map(|one| (one.clone(), json!(one))).collect());
    let arguments = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"];
    let read = kubectl(&env, &arguments, &yaml(&both).unwrap());
    assert_eq!(serde_json::from_slice::<Value>(&read).unwrap()["data"], both["data"]);

    // The API server is strict on keys, so it gets the values only.
    let numbered = strings().into_iter().enumerate();
    let values = map("values", numbered.map(|(at, one)| (format!("k{at}"), json!(one))).collect());
    let maps = [&values, &map("empty", Map::new())];
    kubectl(&env, &["create", "-f", "-"], &documents(&maps).unwrap());
    let stored: ConfigMap = env.api().get("values").await.unwrap();
    assert_eq!(json!(stored.data), values["data"]);
    env.api::<ConfigMap>().get("empty").await.unwrap();
}
