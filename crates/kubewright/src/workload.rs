//! What most operators run: pods without rights, and a Deployment of them. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, PodSpec, PodTemplateSpec, SeccompProfile,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::ResourceExt;

use crate::names;

/// A Deployment with the name of its owner, whose pods have `label` with that name as its value: two
/// owners never select each other's pods.
///
/// ```
/// use kubewright::k8s_openapi::api::core::v1::{ConfigMap, PodSpec};
/// use kubewright::workload;
///
/// let mut owner = ConfigMap::default();
/// owner.metadata.name = Some("a".to_owned());
/// let deployment = workload::deployment(&owner, "example.com/page", 3, PodSpec::default());
/// let selector = deployment.spec.unwrap().selector.match_labels.unwrap();
/// assert_eq!(selector["example.com/page"], "a");
/// ```
pub fn deployment(
    owner: &impl ResourceExt,
    label: &str,
    replicas: i32,
    pod: PodSpec,
) -> Deployment {
    let name = owner.name_any();
    let labels = Some(BTreeMap::from([(label.to_owned(), names::label_value(&name))]));
    let metadata = ObjectMeta { labels: labels.clone(), ..ObjectMeta::default() };
    let selector = LabelSelector { match_labels: labels, ..LabelSelector::default() };
    let template = PodTemplateSpec { metadata: Some(metadata.clone()), spec: Some(pod) };
    let replicas = Some(replicas);
    let spec = DeploymentSpec { replicas, selector, template, ..DeploymentSpec::default() };
    let metadata = ObjectMeta { name: Some(name), ..metadata };
    Deployment { metadata, spec: Some(spec), status: None }
}

/// `pod` as the user with the number `user`, with everything that the pod security level `restricted` asks
/// for, and without a token for the API server. What is set already stays.
///
/// ```
/// use kubewright::k8s_openapi::api::core::v1::{Container, PodSpec};
/// use kubewright::workload;
///
/// let page = Container { name: "page".to_owned(), ..Container::default() };
/// let pod = workload::restricted(1001, PodSpec { containers: vec![page], ..PodSpec::default() });
/// assert_eq!(pod.automount_service_account_token, Some(false));
/// assert_eq!(pod.security_context.unwrap().run_as_non_root, Some(true));
/// ```
///
/// A number, because many an image has only the name of its user, and by that the kubelet cannot tell that
/// it is not root.
#[must_use]
pub fn restricted(user: i64, mut pod: PodSpec) -> PodSpec {
    pod.automount_service_account_token.get_or_insert(false);
    let context = pod.security_context.get_or_insert_default();
    context.run_as_non_root.get_or_insert(true);
    context.run_as_user.get_or_insert(user);
    context.seccomp_profile.get_or_insert_with(|| SeccompProfile {
        type_: "RuntimeDefault".to_owned(),
        ..SeccompProfile::default()
    });
    pod.containers.iter_mut().for_each(restrict);
    pod.init_containers.iter_mut().flatten().for_each(restrict);
    pod
}

fn restrict(container: &mut Container) {
    let context = container.security_context.get_or_insert_default();
    context.allow_privilege_escalation.get_or_insert(false);
    let capabilities: &mut Capabilities = context.capabilities.get_or_insert_default();
    capabilities.drop.get_or_insert_with(|| vec!["ALL".to_owned()]);
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{PodSecurityContext, SecurityContext};

    use super::*;

    #[test]
    fn every_container_is_restricted_and_what_is_set_stays() {
        let own = SecurityContext { allow_privilege_escalation: Some(true), ..Default::default() };
        let lax = Container { security_context: Some(own), ..Container::default() };
        let pod = restricted(
            1001,
            PodSpec {
                containers: vec![Container::default(), lax],
                init_containers: Some(vec![Container::default()]),
                security_context: Some(PodSecurityContext {
                    run_as_user: Some(7),
                    ..Default::default()
                }),
                ..PodSpec::default()
            },
        );
        let may_escalate = |container: &Container| {
            container
                .security_context
                .as_ref()
                .and_then(|context| context.allow_privilege_escalation)
        };
        let all = pod.containers.iter().chain(pod.init_containers.iter().flatten());
        let all: Vec<_> = all.map(may_escalate).collect();
        assert_eq!(all, [Some(false), Some(true), Some(false)]);
        assert_eq!(pod.security_context.unwrap().run_as_user, Some(7));
    }
}
