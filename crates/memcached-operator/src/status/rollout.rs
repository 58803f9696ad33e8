//! What a Deployment says of itself, as far as conditions need it.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};

/// How far a Deployment is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rollout {
    /// Its controller has not seen the newest spec yet, or pods of an older template are left.
    pub(super) is_under_way: bool,
    /// Why it makes no progress.
    pub(super) stalled: Option<String>,
    /// Why pods cannot be created.
    pub(super) failure: Option<String>,
}

impl Rollout {
    pub(super) fn of(deployment: &Deployment) -> Self {
        let Some(status) = &deployment.status else {
            return Self { is_under_way: true, ..Self::default() };
        };
        let is_seen = status.observed_generation >= deployment.metadata.generation;
        let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or_default();
        let updated = status.updated_replicas.unwrap_or_default();
        let stalled = condition(status, "Progressing").filter(|is| is.status == "False");
        let failure = condition(status, "ReplicaFailure").filter(|is| is.status == "True");
        Self {
            is_under_way: !is_seen || updated < wanted,
            stalled: stalled.filter(|is| is_seen || is_without_pods(is)).map(text),
            failure: failure.filter(|_| is_seen).map(text),
        }
    }
}

/// Its controller could not even make a `ReplicaSet`, and then does not say which generation it has seen.
fn is_without_pods(condition: &DeploymentCondition) -> bool {
    condition.reason.as_deref() == Some("ReplicaSetCreateError")
}

fn condition<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

fn text(condition: &DeploymentCondition) -> String {
    let reason = condition.reason.as_deref().unwrap_or_default();
    let message = condition.message.as_deref().unwrap_or_default();
    format!("{reason}: {message}")
}
