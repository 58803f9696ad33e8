//! The tests of Operator SDK's scorecard that look at nothing but the bundle. Pure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde::Serialize;
use serde_json::Value;

use super::csv::Descriptor;
use super::{Bundle, Owned, Severity};

/// A test and what came of it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) errors: Vec<String>,
    pub(crate) suggestions: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Pass,
    Fail,
}

/// All of them, in the order of the configuration for the real one.
pub(crate) fn tests(bundle: &Bundle) -> Vec<Test> {
    let examples = bundle.examples();
    let test = |name, (errors, suggestions): (Vec<String>, Vec<String>)| {
        let state = if errors.is_empty() { State::Pass } else { State::Fail };
        Test { name, state, errors, suggestions }
    };
    vec![
        test("basic-check-spec", (Vec::new(), without_spec(&examples))),
        test("olm-bundle-validation", (unusable(bundle), Vec::new())),
        test("olm-crds-have-validation", (Vec::new(), unvalidated(bundle, &examples))),
        test("olm-crds-have-resources", (without_resources(bundle), Vec::new())),
        test("olm-spec-descriptors", (undescribed(bundle, &examples, "spec"), Vec::new())),
        test("olm-status-descriptors", (undescribed(bundle, &examples, "status"), Vec::new())),
    ]
}

fn without_spec(examples: &[Value]) -> Vec<String> {
    let without = examples.iter().filter(|example| !example["spec"].is_object());
    without.map(|example| format!("the example of {} has no spec", kind(example))).collect()
}

/// What the validators find that are no opinion: warnings, and what only a catalogue wants, are left out.
fn unusable(bundle: &Bundle) -> Vec<String> {
    let findings = bundle.findings();
    let is_opinion = |id: &str| id.starts_with("hub/") || id.starts_with("practice/");
    let errors = findings.iter().filter(|it| it.severity == Severity::Error && !is_opinion(it.id));
    errors.map(|error| format!("{}: {} ({})", error.file, error.wrong, error.id)).collect()
}

/// Fields of examples that the definition does not know.
fn unvalidated(bundle: &Bundle, examples: &[Value]) -> Vec<String> {
    let mut unknown = Vec::new();
    for example in examples {
        for part in ["spec", "status"] {
            let known = schema(bundle, example, part);
            for key in keys(&example[part]) {
                if !known.is_some_and(|known| is_known(known, key)) {
                    unknown.push(format!("{part}.{key} of {} is not in its schema", kind(example)));
                }
            }
        }
    }
    unknown
}

fn is_known(schema: &JSONSchemaProps, key: &str) -> bool {
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true)
        || schema.additional_properties.is_some();
    is_open || schema.properties.as_ref().is_some_and(|properties| properties.contains_key(key))
}

/// The schema of a part of the example's kind.
fn schema<'a>(bundle: &'a Bundle, example: &Value, part: &str) -> Option<&'a JSONSchemaProps> {
    let text = example["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = text.split_once('/')?;
    let mut definitions = bundle.definitions.iter().map(|(_, definition)| &definition.spec);
    let spec = definitions.find(|spec| spec.group == group && spec.names.kind == kind(example))?;
    let version = spec.versions.iter().find(|one| one.name == version)?;
    let root = version.schema.as_ref()?.open_api_v3_schema.as_ref()?;
    root.properties.as_ref()?.get(part)
}

fn without_resources(bundle: &Bundle) -> Vec<String> {
    let without = owned(bundle).iter().filter(|owned| owned.resources.is_empty());
    without.map(|owned| format!("owned kind {} names no resources", owned.kind)).collect()
}

/// Fields of examples that a console has no words for.
fn undescribed(bundle: &Bundle, examples: &[Value], part: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for example in examples {
        let is_it = |owned: &&Owned| {
            let version = format!("{}/{}", owned.group().unwrap_or_default(), owned.version);
            owned.kind == kind(example) && example["apiVersion"] == version
        };
        let Some(owned) = owned(bundle).iter().find(is_it) else { continue };
        let descriptors: &[Descriptor] =
            if part == "spec" { &owned.spec_descriptors } else { &owned.status_descriptors };
        for key in keys(&example[part]) {
            let speaks = |it: &Descriptor| it.path.split(['.', '[']).next() == Some(key);
            if !descriptors.iter().any(speaks) {
                missing.push(format!("{part}.{key} of {} has no descriptor", kind(example)));
            }
        }
    }
    missing
}

fn owned(bundle: &Bundle) -> &[Owned] {
    let spec = bundle.release.as_ref().and_then(|(_, csv)| csv.spec.as_ref());
    spec.map(|spec| &spec.customresourcedefinitions.owned[..]).unwrap_or_default()
}

fn keys(value: &Value) -> impl Iterator<Item = &str> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str())
}

fn kind(example: &Value) -> &str {
    example["kind"].as_str().unwrap_or_default()
}
