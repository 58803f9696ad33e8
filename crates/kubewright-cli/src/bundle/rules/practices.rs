//! `practice/…`: what works and will be regretted.

use super::super::{Bundle, Findings};
use super::Release;

const CHANNELS: [&str; 3] = ["candidate", "fast", "stable"];

pub(super) fn check(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    channels(bundle, findings);
    containers(release, findings);
    permissions(release, findings);
    name(bundle, release, findings);
    let Release { file, spec, .. } = release;
    let definitions = &spec.customresourcedefinitions;
    for kind in definitions.owned.iter().chain(&definitions.required) {
        if kind.description.is_empty() {
            let wrong = format!("{} has no description", kind.name);
            let remedy = "Write a `///` comment on the kind and make the bundle anew.";
            findings.warning("practice/description", file, wrong, remedy);
        }
    }
}

fn channels(bundle: &Bundle, findings: &mut Findings) {
    let Some(annotations) = &bundle.annotations else { return };
    let keys = ["channels.v1", "channel.default.v1"];
    let mut named: Vec<_> = keys.iter().filter_map(|key| bundle.annotation(key)).collect();
    named = named.iter().flat_map(|names| names.split(',')).map(str::trim).collect();
    named.sort_unstable();
    named.dedup();
    for channel in named.into_iter().filter(|channel| !channel.is_empty()) {
        if !CHANNELS.iter().any(|start| channel.starts_with(start)) {
            let wrong = format!("the channel `{channel}` is called as no other operator's");
            let remedy =
                "Begin with candidate, fast or stable: `kubewright bundle --channels stable`.";
            findings.warning("practice/channel", &annotations.file, wrong, remedy);
        }
    }
}

fn containers(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, spec, .. } = release;
    let deployments = spec.deployments();
    if deployments.is_empty() {
        let wrong = "there is no deployment, so nothing would run".to_owned();
        let remedy = "Put the operator into spec.install.spec.deployments.";
        return findings.error("practice/deployment", file, wrong, remedy);
    }
    for deployment in deployments {
        let pod = deployment.spec.template.spec.as_ref();
        for container in pod.iter().flat_map(|pod| &pod.containers) {
            let requests = container.resources.as_ref().and_then(|it| it.requests.as_ref());
            let is_said = |name: &str| requests.is_some_and(|requests| requests.contains_key(name));
            if !is_said("cpu") || !is_said("memory") {
                let (name, of) = (&container.name, &deployment.name);
                let wrong = format!("the container {name} of {of} requests no cpu or no memory");
                let remedy = "Request both: some clusters refuse pods without.";
                findings.warning("practice/requests", file, wrong, remedy);
            }
        }
    }
}

fn permissions(release: &Release<'_>, findings: &mut Findings) {
    let has = |list: &Option<Vec<String>>, wanted: &[&str]| {
        list.iter().flatten().any(|one| wanted.contains(&one.as_str()))
    };
    let writes_definitions = release.spec.rules().any(|rule| {
        has(&rule.api_groups, &["apiextensions.k8s.io"])
            && has(&rule.resources, &["customresourcedefinitions", "*"])
            && has(&Some(rule.verbs.clone()), &["create", "patch", "*"])
    });
    if writes_definitions {
        let wrong = "the operator may create definitions of kinds".to_owned();
        let remedy = "Leave that to the lifecycle manager: put definitions into the bundle.";
        findings.warning("practice/definitions", release.file, wrong, remedy);
    }
}

fn name(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    let name = release.csv.name();
    let parts = name.split_once(".v");
    let package = bundle.annotation("package.v1");
    let is_usual = parts.is_some_and(|(before, version)| {
        package.is_none_or(|package| package == before) && semver::Version::parse(version).is_ok()
    });
    if !is_usual {
        let wrong = format!("the release is called `{name}`, not as package and version");
        let remedy = "Call it PACKAGE.vVERSION, as memcached-operator.v0.0.1.";
        findings.warning("practice/name", release.file, wrong, remedy);
    }
    let version = parts.map(|(_, version)| version);
    if let (Some(version), Some(said)) = (version, release.spec.version.as_deref())
        && is_usual
        && version != said
    {
        let wrong = format!("the name says {version}, and spec.version says {said}");
        findings.warning("practice/name-version", release.file, wrong, "Let both say the same.");
    }
}
