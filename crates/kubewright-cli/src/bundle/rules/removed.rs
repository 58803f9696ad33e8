//! `removed/…`: versions of kinds that Kubernetes has no more.

use semver::Version;

use super::super::{Bundle, Findings};
use super::Release;

/// Until which minor version of Kubernetes 1 it was served, with its kinds.
type Removed = (u64, &'static str, &'static [&'static str]);

const REMOVED: [Removed; 18] = [
    (22, "apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"]),
    (22, "scheduling.k8s.io/v1beta1", &["PriorityClass"]),
    (
        22,
        "rbac.authorization.k8s.io/v1beta1",
        &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    ),
    (22, "apiregistration.k8s.io/v1beta1", &["APIService"]),
    (22, "authentication.k8s.io/v1beta1", &["TokenReview"]),
    (
        22,
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
    ),
    (
        22,
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    (22, "coordination.k8s.io/v1beta1", &["Lease"]),
    (22, "extensions/v1beta1", &["Ingress"]),
    (22, "networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    (22, "storage.k8s.io/v1beta1", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
    (22, "certificates.k8s.io/v1beta1", &["CertificateSigningRequest"]),
    (25, "batch/v1beta1", &["CronJob"]),
    (25, "discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    (25, "events.k8s.io/v1beta1", &["Event"]),
    (25, "autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    (25, "policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"]),
    (25, "node.k8s.io/v1beta1", &["RuntimeClass"]),
];
const LAST: Removed = (26, "autoscaling/v2beta2", &["HorizontalPodAutoscaler"]);

/// Resources that were removed in one version with 1.25; a rule does not say which version it means.
const RESOURCES: [(&str, &str); 7] = [
    ("batch", "cronjobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("policy", "poddisruptionbudgets"),
    ("policy", "podsecuritypolicies"),
    ("node.k8s.io", "runtimeclasses"),
];

pub(super) fn check(bundle: &Bundle, release: &Release<'_>, findings: &mut Findings) {
    let least = release.spec.min_kube_version.trim();
    let least = Version::parse(least).map_or(0, |version| version.minor);
    let objects = bundle.manifests.iter();
    let objects =
        objects.map(|one| (one.file.as_str(), one.text("apiVersion"), one.text("kind"), 0));
    let definitions = &release.spec.customresourcedefinitions;
    let shown = definitions.owned.iter().chain(&definitions.required).flat_map(|it| &it.resources);
    let shown = shown.map(|one| (release.file, one.version.as_str(), one.kind.as_str(), 25));
    for (file, version, kind, from) in objects.chain(shown) {
        let is_it = |(minor, removed, kinds): &&Removed| {
            *minor >= from && *removed == version && kinds.contains(&kind)
        };
        let Some((minor, ..)) = REMOVED.iter().chain([&LAST]).find(is_it) else { continue };
        let wrong = format!("{kind} of {version} is gone since Kubernetes 1.{minor}");
        let remedy = "Use the version that came after it.";
        if least >= *minor {
            findings.error("removed/object", file, wrong, remedy);
        } else {
            findings.warning("removed/object-warning", file, wrong, remedy);
        }
    }
    permissions(release, findings);
}

/// A permission for a resource that a console is told of is taken for one of the version said there.
fn permissions(release: &Release<'_>, findings: &mut Findings) {
    let definitions = &release.spec.customresourcedefinitions;
    let shown = definitions.owned.iter().chain(&definitions.required).flat_map(|it| &it.resources);
    let shown: Vec<_> = shown.map(|one| format!("{}s", one.kind.to_lowercase())).collect();
    for rule in release.spec.rules() {
        let (groups, resources) =
            (rule.api_groups.iter().flatten(), rule.resources.iter().flatten());
        let pairs = groups.flat_map(|group| resources.clone().map(move |one| (group, one)));
        for (group, resource) in pairs {
            let is_removed = RESOURCES.contains(&(group.as_str(), resource.as_str()));
            if is_removed && !shown.contains(resource) {
                let wrong =
                    format!("permission for {resource} of {group}, whose beta is gone since 1.25");
                let remedy = "If it is of v1, list the kind in `resources` of the owned kind.";
                findings.warning("removed/permission", release.file, wrong, remedy);
            }
        }
    }
}
