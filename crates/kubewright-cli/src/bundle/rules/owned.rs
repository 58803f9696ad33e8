//! `bundle/…`: what the release says it brings, beside what is in the bundle.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{Bundle, Findings, Manifest};
use super::Release;

/// Group, version and kind.
type Api = (String, String, String);

pub(super) fn check(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    kinds(bundle, release, findings);
    accounts(bundle, release, findings);
    name(bundle, release, findings);
}

fn kinds(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    let mut brought: BTreeSet<Api> = BTreeSet::new();
    let is_definition = |it: &&Manifest| it.text("kind") == "CustomResourceDefinition";
    for manifest in bundle.manifests.iter().filter(is_definition) {
        for api in apis(&manifest.object["spec"]) {
            if !brought.insert(api.clone()) {
                let wrong = format!("{} is defined twice in the bundle", spoken(&api));
                findings.error("bundle/crd-twice", &manifest.file, wrong, "Keep one of them.");
            }
        }
    }
    let said: BTreeSet<Api> =
        release.spec.customresourcedefinitions.owned.iter().map(said).collect();
    for api in said.difference(&brought) {
        let wrong = format!("{} is owned, but its definition is not in the bundle", spoken(api));
        let remedy = "Put the definition into manifests/, or take it off the list of owned ones.";
        findings.error("bundle/crd-missing", release.file, wrong, remedy);
    }
    // Of a kind with several versions, one that is owned is enough.
    let is_owned = |api: &Api| {
        said.iter().any(|one| brought.contains(one) && one.0 == api.0 && one.2 == api.2)
    };
    for api in brought.difference(&said).filter(|api| !is_owned(api)) {
        let wrong = format!("{} is defined in the bundle, but not owned", spoken(api));
        let remedy = "List it in spec.customresourcedefinitions.owned.";
        findings.error("bundle/crd-not-owned", release.file, wrong, remedy);
    }
}

fn said(owned: &super::super::Owned) -> Api {
    let group = owned.group().unwrap_or(&owned.name);
    (group.to_owned(), owned.version.clone(), owned.kind.clone())
}

/// What a definition defines, of `v1` and of `v1beta1`.
fn apis(spec: &Value) -> Vec<Api> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |version: &Value| (text(&spec["group"]), text(version), text(&spec["names"]["kind"]));
    match spec["versions"].as_array() {
        Some(versions) if !versions.is_empty() => {
            versions.iter().map(|it| one(&it["name"])).collect()
        }
        _ if spec["version"].is_string() => vec![one(&spec["version"])],
        _ => Vec::new(),
    }
}

fn spoken((group, version, kind): &Api) -> String {
    format!("{kind} ({group}/{version})")
}

fn accounts(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    let pods = release.spec.deployments().iter().map(|one| one.spec.template.spec.as_ref());
    let accounts = pods.map(|pod| pod.and_then(|pod| pod.service_account_name.as_deref()));
    let accounts: BTreeSet<_> = accounts.map(Option::unwrap_or_default).collect();
    for manifest in &bundle.manifests {
        let is_account =
            manifest.text("kind") == "ServiceAccount" && manifest.text("apiVersion") == "v1";
        if is_account && accounts.contains(manifest.name()) {
            let wrong = format!("the account {} is made from the release already", manifest.name());
            let remedy = "Remove the file, or call the account otherwise.";
            findings.error("bundle/service-account", &manifest.file, wrong, remedy);
        }
    }
}

/// Releases of releases have a form of name of their own.
fn name(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    let Release { file, csv, spec } = release;
    if spec.release.is_empty() {
        return;
    }
    let package = bundle.annotation("package.v1").unwrap_or_default();
    let version = spec.version.as_deref().unwrap_or("0.0.0");
    let expected = format!("{package}-v{version}-{}", spec.release);
    if csv.name() != expected {
        let wrong =
            format!("with spec.release the name must be `{expected}`, not `{}`", csv.name());
        findings.error("bundle/name", file, wrong, "Rename it, or remove spec.release.");
    }
}
