//! What a bundle says about itself: annotations, the image that carries it, and the tests of its
//! scorecard.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Bundle, Error};

const BUNDLE: &str = "operators.operatorframework.io.bundle";
const TEST: &str = "operators.operatorframework.io.test";

/// The tests that every bundle can take, and the image that has them.
const SCORECARD_IMAGE: &str = "quay.io/operator-framework/scorecard-test:v1.42.0";
const SCORECARD: [(&str, &str); 6] = [
    ("basic", "basic-check-spec"),
    ("olm", "olm-bundle-validation"),
    ("olm", "olm-crds-have-validation"),
    ("olm", "olm-crds-have-resources"),
    ("olm", "olm-spec-descriptors"),
    ("olm", "olm-status-descriptors"),
];

/// Where what is in the bundle, and how it is published.
pub(super) fn annotations(bundle: &Bundle<'_>) -> Result<Map<String, Value>, Error> {
    let release = &bundle.release;
    let channels = &release.channels;
    let first = channels.first().ok_or(Error::NoChannel)?;
    let default = release.default_channel.as_ref().unwrap_or(first);
    if !channels.contains(default) {
        return Err(Error::Channel { default: default.clone(), channels: channels.clone() });
    }
    let annotations = [
        (BUNDLE, "mediatype.v1", "registry+v1"),
        (BUNDLE, "manifests.v1", "manifests/"),
        (BUNDLE, "metadata.v1", "metadata/"),
        (BUNDLE, "package.v1", &bundle.installation.operator),
        (BUNDLE, "channels.v1", &channels.join(",")),
        (BUNDLE, "channel.default.v1", default),
        (TEST, "mediatype.v1", "scorecard+v1"),
        (TEST, "config.v1", "tests/scorecard/"),
    ];
    let annotations = annotations.map(|(of, key, value)| (format!("{of}.{key}"), json!(value)));
    Ok(annotations.into_iter().collect())
}

/// The image of the bundle: its files and nothing else.
pub(super) fn dockerfile(folder: &str, annotations: &Map<String, Value>) -> String {
    let mut text = "FROM scratch\n\n".to_owned();
    for (key, value) in annotations {
        let _ = writeln!(text, "LABEL {key}={}", value.as_str().unwrap_or_default());
    }
    text.push('\n');
    for (part, place) in [
        ("manifests", "manifests"),
        ("metadata", "metadata"),
        ("tests/scorecard", "tests/scorecard"),
    ] {
        let _ = writeln!(text, "COPY {folder}/{part} /{place}/");
    }
    text
}

/// Which tests `operator-sdk scorecard` runs.
pub(super) fn scorecard() -> Value {
    let tests: Vec<_> = SCORECARD
        .iter()
        .map(|(suite, test)| {
            json!({
                "entrypoint": ["scorecard-test", test],
                "image": SCORECARD_IMAGE,
                "labels": {"suite": suite, "test": format!("{test}-test")},
                "storage": {"spec": {"mountPath": {}}},
            })
        })
        .collect();
    json!({
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": {"name": "config"},
        "stages": [{"parallel": true, "tests": tests}],
        "storage": {"spec": {"mountPath": {}}},
    })
}
