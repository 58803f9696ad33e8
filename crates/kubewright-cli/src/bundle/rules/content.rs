//! `content/…`: which objects may be in a bundle.

use super::super::{Bundle, Findings, MANIFESTS};

/// Everything else must be inside the `ClusterServiceVersion`, or is not the operator's to bring.
const ALLOWED: [&str; 22] = [
    "ClusterServiceVersion",
    "CustomResourceDefinition",
    "Secret",
    "ConfigMap",
    "Service",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "PrometheusRule",
    "ServiceMonitor",
    "PodMonitor",
    "PodDisruptionBudget",
    "PriorityClass",
    "VerticalPodAutoscaler",
    "NetworkPolicy",
    "ConsoleYAMLSample",
    "ConsoleQuickStart",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
];

pub(super) fn check(bundle: &Bundle, findings: &mut Findings) {
    for manifest in &bundle.manifests {
        let kind = manifest.text("kind");
        if !ALLOWED.contains(&kind) {
            let wrong = format!("a {kind} cannot be in a bundle");
            findings.error("content/kind", &manifest.file, wrong, instead(kind));
        } else if manifest.text("apiVersion").is_empty() {
            let wrong = format!("the {kind} has no `apiVersion`");
            findings.error("content/version", &manifest.file, wrong, "Write it.");
        }
        if manifest.text("apiVersion") == "apiextensions.k8s.io/v1beta1" {
            let wrong = "a definition as v1beta1, which no supported Kubernetes takes".to_owned();
            let remedy = "Write it as apiextensions.k8s.io/v1.";
            findings.warning("content/definition-v1beta1", &manifest.file, wrong, remedy);
        }
    }
    let is_release = |file: &str| file == "ClusterServiceVersion";
    if !bundle.manifests.iter().any(|manifest| is_release(manifest.text("kind"))) {
        let wrong = "there is no ClusterServiceVersion".to_owned();
        findings.error("content/csv", MANIFESTS, wrong, "`kubewright bundle` writes one.");
    }
}

fn instead(kind: &str) -> &'static str {
    match kind {
        "Deployment" => "Put it into spec.install.spec.deployments of the ClusterServiceVersion.",
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            "Put it into spec.webhookdefinitions of the ClusterServiceVersion."
        }
        "Namespace" => "Leave it out: whoever installs the operator chooses the namespace.",
        _ => "Leave it out, or let the operator create it.",
    }
}
