//! `csv/…`: what every `ClusterServiceVersion` must have.

use super::super::csv::{Install, Spec, Strategy};
use super::super::names::{is_label_value, is_subdomain};
use super::super::{ClusterServiceVersion, Findings};

/// Keys of annotations that the lifecycle manager looks for letter by letter.
const KEYS: [&str; 5] = [
    "olm.operatorGroup",
    "olm.operatorNamespace",
    "olm.targetNamespaces",
    "olm.providedAPIs",
    "olm.skipRange",
];

pub(super) fn check(file: &str, csv: &ClusterServiceVersion, findings: &mut Findings) {
    if csv.api_version.is_empty() {
        let wrong = "`apiVersion` is missing".to_owned();
        findings.error("csv/version-of-kind", file, wrong, "It is operators.coreos.com/v1alpha1.");
    }
    let name_remedy =
        "Lower-case letters, digits, `-` and `.`, at most 63: memcached-operator.v0.0.1.";
    if !is_name(csv.name()) {
        let wrong = format!("metadata.name `{}` cannot be the name of a release", csv.name());
        findings.error("csv/name", file, wrong, name_remedy);
    }
    annotations(file, csv, findings);
    let Some(spec) = &csv.spec else {
        let wrong = "`spec` is missing".to_owned();
        return findings.error("csv/required", file, wrong, "Describe the release in it.");
    };
    if !spec.replaces.is_empty() && !is_name(&spec.replaces) {
        let wrong = format!("spec.replaces `{}` cannot be the name of a release", spec.replaces);
        findings.error("csv/replaces", file, wrong, name_remedy);
    }
    for field in missing(spec) {
        findings.error("csv/required", file, format!("{field} is missing or empty"), "Fill it in.");
    }
    versions(file, spec, findings);
}

fn is_name(name: &str) -> bool {
    is_subdomain(name) && is_label_value(name)
}

/// Fields that must not be empty.
fn missing(spec: &Spec) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if spec.display_name.is_empty() {
        missing.push("spec.displayName");
    }
    let Some(Install { strategy, spec }) = &spec.install else {
        missing.push("spec.install");
        return missing;
    };
    if strategy.is_empty() {
        missing.push("spec.install.strategy");
    }
    // Upstream is silent on a strategy with nothing in it.
    let lacks = |spec: &Strategy| {
        let is_empty = spec.permissions.is_empty() && spec.cluster_permissions.is_empty();
        spec.deployments.is_none() && !is_empty
    };
    if spec.as_ref().is_some_and(lacks) {
        missing.push("spec.install.spec.deployments");
    }
    missing
}

fn versions(file: &str, spec: &Spec, findings: &mut Findings) {
    let least = spec.min_kube_version.trim();
    if least.is_empty() {
        let wrong =
            "spec.minKubeVersion is missing: this can be installed on any Kubernetes".to_owned();
        let remedy = "Name the oldest version that it was tried on, as 1.32.0.";
        findings.warning("csv/min-kube-version", file, wrong, remedy);
    } else if semver::Version::parse(&spec.min_kube_version).is_err() {
        let wrong = format!("spec.minKubeVersion `{least}` is no version");
        findings.error(
            "csv/min-kube-version-form",
            file,
            wrong,
            "Write all three numbers: 1.32.0.",
        );
    }
    if let Some(version) = &spec.version
        && !is_like_version(version)
    {
        let wrong = format!("spec.version `{version}` is no version");
        findings.error("csv/version", file, wrong, "Write all three numbers: 0.0.1.");
    }
}

/// The lifecycle manager takes `v1.0` for `1.0.0`.
fn is_like_version(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let missing = ["", ".0", ".0.0"].map(|rest| format!("{text}{rest}"));
    missing.iter().any(|text| semver::Version::parse(text).is_ok())
}

fn annotations(file: &str, csv: &ClusterServiceVersion, findings: &mut Findings) {
    for key in csv.metadata.annotations.iter().flatten().map(|(key, _)| key) {
        let same = |known: &&&str| known.eq_ignore_ascii_case(key) && **known != key;
        if let Some(known) = KEYS.iter().find(same) {
            let wrong = format!("the annotation `{key}` means nothing, `{known}` does");
            findings.error("csv/annotation-case", file, wrong, "Write it with those capitals.");
        }
        if key == "olm.properties" {
            let wrong = "the annotation `olm.properties` is used".to_owned();
            let remedy = "Write the properties into metadata/properties.yaml.";
            findings.warning("csv/properties", file, wrong, remedy);
        }
    }
}
