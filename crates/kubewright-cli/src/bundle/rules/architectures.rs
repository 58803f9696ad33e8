//! `arch/…`: the processors that a release says it runs on, by labels and by where its pods may go. What the
//! images themselves can do is not looked at: that takes a registry.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::PodSpec;

use super::super::Findings;
use super::Release;

const LABEL: &str = "operatorframework.io/arch.";
const KEY: &str = "kubernetes.io/arch";
/// What a release without any label runs on.
const USUAL: &str = "amd64";

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let labels = release.csv.metadata.labels.iter().flatten();
    let said = labels.filter(|(_, value)| *value == "supported");
    let mut said: BTreeSet<_> = said.filter_map(|(key, _)| key.strip_prefix(LABEL)).collect();
    if said.is_empty() {
        said.insert(USUAL);
    }
    for deployment in release.spec.deployments() {
        let Some(pod) = &deployment.spec.template.spec else { continue };
        let allowed = allowed(pod);
        if allowed.is_empty() {
            continue; // pods go anywhere
        }
        for one in allowed.difference(&said) {
            let wrong = format!("{} may run on {one}, which no label says", deployment.name);
            let remedy = "Set the label operatorframework.io/arch.NAME to `supported`.";
            findings.warning("arch/label", release.file, wrong, remedy);
        }
        for one in said.difference(&allowed) {
            let wrong =
                format!("{one} is said to be supported, but {} may not run there", deployment.name);
            let remedy = "Allow it in the node affinity, or remove the label.";
            findings.error("arch/affinity", release.file, wrong, remedy);
        }
    }
}

/// Processors that the pod's affinity asks for; none if it does not.
fn allowed(pod: &PodSpec) -> BTreeSet<&str> {
    let nodes = pod.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required =
        nodes.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref());
    let terms = required.iter().flat_map(|it| &it.node_selector_terms);
    let asked = terms.flat_map(|term| term.match_expressions.iter().flatten());
    let asked = asked.filter(|it| it.key == KEY && it.operator == "In");
    asked.flat_map(|it| it.values.iter().flatten()).map(String::as_str).collect()
}
