//! `object/…`: objects beside the release that would harm the cluster.

use serde_json::Value;

use super::super::{Bundle, Findings, Manifest};

/// Those that `OpenShift` brings.
const CONSTRAINTS: [&str; 8] = [
    "privileged",
    "restricted",
    "anyuid",
    "hostaccess",
    "hostmount-anyuid",
    "hostnetwork",
    "node-exporter",
    "nonroot",
];

pub(super) fn check(bundle: &Bundle, findings: &mut Findings) {
    for manifest in &bundle.manifests {
        match manifest.text("kind") {
            "PodDisruptionBudget" => budget(manifest, findings),
            "PriorityClass" => priority(manifest, findings),
            "Role" | "ClusterRole" => role(manifest, findings),
            _ => {}
        }
    }
}

fn budget(manifest: &Manifest, findings: &mut Findings) {
    let spec = &manifest.object["spec"];
    let most = &spec["maxUnavailable"];
    let remedy = "Let at least one pod go, else no node can be drained.";
    if most.as_i64() == Some(0) || most == "0%" {
        let wrong = format!("maxUnavailable is {most}");
        findings.error("object/budget", &manifest.file, wrong, remedy);
    } else if most.is_string() {
        let wrong = format!("maxUnavailable is {most}, and catalogues take every percentage for 0");
        findings.error("object/budget", &manifest.file, wrong, "Write a number of pods.");
    }
    if spec["minAvailable"] == "100%" {
        let wrong = "minAvailable is 100%".to_owned();
        findings.error("object/budget", &manifest.file, wrong, remedy);
    }
}

fn priority(manifest: &Manifest, findings: &mut Findings) {
    if manifest.object["globalDefault"] == true {
        let wrong = "the PriorityClass makes itself everybody's default".to_owned();
        let remedy = "Set globalDefault to false.";
        findings.error("object/priority", &manifest.file, wrong, remedy);
    }
}

fn role(manifest: &Manifest, findings: &mut Findings) {
    for rule in manifest.object["rules"].as_array().into_iter().flatten() {
        let has = |key: &str, wanted: &[&str]| {
            let texts = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            texts.into_iter().any(|text| wanted.contains(&text))
        };
        if has("apiGroups", &["policy"])
            && has("resources", &["poddisruptionbudgets"])
            && has("verbs", &["*", "create", "update", "patch"])
        {
            let wrong = "the role may write PodDisruptionBudgets, which can stop drains".to_owned();
            let remedy = "Leave it out of a role for people unless they need it.";
            findings.warning("object/role-budgets", &manifest.file, wrong, remedy);
        }
        if has("apiGroups", &["security.openshift.io"])
            && has("resources", &["securitycontextconstraints"])
            && has("verbs", &["*", "delete", "update", "patch"])
            && has("resourceNames", &CONSTRAINTS)
        {
            let wrong = "the role may change OpenShift's own SecurityContextConstraints".to_owned();
            let remedy = "Make one of your own and name that.";
            findings.error("object/role-constraints", &manifest.file, wrong, remedy);
        }
    }
}
