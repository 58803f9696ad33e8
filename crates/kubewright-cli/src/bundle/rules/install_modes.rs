//! `csv/install-mode…`: which namespaces the operator can be told to look after.

use std::collections::BTreeSet;

use super::super::Findings;
use super::Release;

const ALL: &str = "AllNamespaces";
const KNOWN: [&str; 4] = ["OwnNamespace", "SingleNamespace", "MultiNamespace", ALL];

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, spec, .. } = release;
    let modes = &spec.install_modes;
    if modes.is_empty() {
        let wrong = "spec.installModes is missing".to_owned();
        let remedy = "Say of all four modes whether the operator supports them.";
        return findings.error("csv/install-modes", file, wrong, remedy);
    }
    let mut seen = BTreeSet::new();
    for mode in modes {
        if !seen.insert(&mode.kind) {
            let wrong = format!("the install mode {} is there twice", mode.kind);
            findings.error("csv/install-mode-twice", file, wrong, "Keep one of them.");
        }
        if !KNOWN.contains(&mode.kind.as_str()) {
            let wrong = format!("`{}` is no install mode", mode.kind);
            let remedy =
                "They are OwnNamespace, SingleNamespace, MultiNamespace and AllNamespaces.";
            findings.warning("csv/install-mode-unknown", file, wrong, remedy);
        }
    }
    if !modes.iter().any(|mode| mode.supported) {
        let wrong = "no install mode is supported, so nobody can install it".to_owned();
        findings.error("csv/install-modes-none", file, wrong, "Support AllNamespaces at least.");
    }
    let converts = spec.webhookdefinitions.iter().any(|it| !it.conversion_definitions.is_empty());
    if converts && modes.iter().any(|mode| mode.supported != (mode.kind == ALL)) {
        let wrong = "a conversion webhook serves the whole cluster, but other modes are supported";
        let remedy = "Support AllNamespaces and nothing else.";
        findings.error("csv/install-mode-conversion", file, wrong.to_owned(), remedy);
    }
}
