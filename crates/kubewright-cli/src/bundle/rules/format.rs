//! `format/…`: the folders of a bundle and what it says about itself.

use serde_json::Value;

use super::super::{Annotations, Bundle, Findings, MANIFESTS, METADATA, PREFIX, parse};

/// Keys that have one right value.
const FIXED: [(&str, &str); 3] =
    [("mediatype.v1", "registry+v1"), ("manifests.v1", MANIFESTS), ("metadata.v1", METADATA)];
const DEPENDENCIES: &str = "metadata/dependencies.yaml";
const KINDS_OF_DEPENDENCY: [(&str, &[&str]); 4] = [
    ("olm.package", &["packageName", "version"]),
    ("olm.gvk", &["group", "version", "kind"]),
    ("olm.label", &["label"]),
    ("olm.constraint", &["failureMessage"]),
];

pub(super) fn check(bundle: &Bundle, findings: &mut Findings) {
    for folder in [MANIFESTS, METADATA] {
        if !bundle.files.keys().any(|file| file.starts_with(folder)) {
            let wrong = format!("there is no folder {folder}, or nothing in it");
            let remedy = "`kubewright bundle` writes manifests/ and metadata/.";
            findings.error("format/folder", folder, wrong, remedy);
        }
    }
    let is_there = bundle.files.keys().any(|file| file.starts_with("metadata/annotations."));
    match &bundle.annotations {
        Some(annotations) => values(bundle, annotations, findings),
        None if !is_there => {
            let remedy = "`kubewright bundle` writes it.";
            let file = "metadata/annotations.yaml";
            findings.error("format/annotations", file, "the file is missing".to_owned(), remedy);
        }
        None => {}
    }
    dependencies(bundle, findings);
}

fn values(bundle: &Bundle, annotations: &Annotations, findings: &mut Findings) {
    let file = &annotations.file;
    for (key, expected) in FIXED {
        if bundle.annotation(key) != Some(expected) {
            let found = bundle.annotation(key).map_or("missing".to_owned(), |it| format!("`{it}`"));
            let wrong = format!("{PREFIX}{key} is {found} and must be `{expected}`");
            findings.error("format/annotation", file, wrong, "Write that value.");
        }
    }
    let mut filled = |id, key, is_needed: bool| {
        let value = bundle.annotation(key);
        if value.map_or(is_needed, |value| value.split(',').any(|one| one.trim().is_empty())) {
            let wrong = format!("{PREFIX}{key} is missing or empty");
            findings.error(id, file, wrong, "Name it.");
        }
    };
    filled("format/package", "package.v1", true);
    filled("format/channels", "channels.v1", true);
    filled("format/default-channel", "channel.default.v1", false);
    let (channels, default) =
        (bundle.annotation("channels.v1"), bundle.annotation("channel.default.v1"));
    if let (Some(channels), Some(default)) = (channels, default) {
        let is_one = channels.split(',').any(|channel| channel.trim() == default.trim());
        if !is_one && !default.trim().is_empty() {
            let wrong = format!("the default channel `{default}` is not among `{channels}`");
            let remedy = "It must be in the catalogue: right only if another release is in it.";
            findings.warning("format/default-channel-unknown", file, wrong, remedy);
        }
    }
}

fn dependencies(bundle: &Bundle, findings: &mut Findings) {
    let Some(content) = bundle.files.get(DEPENDENCIES) else { return };
    let remedy =
        "Each has a `type` (olm.package, olm.gvk, olm.label, olm.constraint) and its `value`.";
    let mut refuse = |wrong| findings.error("format/dependencies", DEPENDENCIES, wrong, remedy);
    let documents = match parse::documents(content) {
        Ok(documents) => documents,
        Err(reason) => return refuse(format!("cannot be read: {reason}")),
    };
    let list = documents.first().and_then(|document| document["dependencies"].as_array());
    let Some(list) = list else { return refuse("has no list `dependencies`".to_owned()) };
    for (at, dependency) in list.iter().enumerate() {
        if let Some(wrong) = unusable(dependency) {
            refuse(format!("dependency {}: {wrong}", at + 1));
        }
    }
}

fn unusable(dependency: &Value) -> Option<String> {
    let kind = dependency["type"].as_str().unwrap_or_default();
    let Some((_, keys)) = KINDS_OF_DEPENDENCY.iter().find(|(known, _)| *known == kind) else {
        return Some(format!("`{kind}` is no type of dependency"));
    };
    let value = &dependency["value"];
    let missing = keys.iter().find(|key| value[**key].as_str().unwrap_or_default().is_empty());
    missing.map(|key| format!("`value` has no `{key}`"))
}
