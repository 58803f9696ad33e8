//! How far a Deployment is: what it says of itself, and the three conditions that follow from it. Pure.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::conditions;

/// How far a Deployment is.
///
/// ```
/// use kubewright::k8s_openapi::api::apps::v1::Deployment;
/// use kubewright::rollout::Rollout;
///
/// let rollout = Rollout::of(&Deployment::default()); // nobody has looked at it yet
/// let [available, progressing, degraded] = rollout.conditions();
/// assert_eq!((available.status.as_str(), progressing.status.as_str()), ("False", "True"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rollout {
    /// How many pods it should have.
    pub wanted: i32,
    /// How many of its pods are ready.
    pub ready: i32,
    /// Its controller has not seen the newest spec yet, or pods of an older template are left.
    pub is_under_way: bool,
    /// Why it makes no progress.
    pub stalled: Option<String>,
    /// Why pods cannot be created.
    pub failure: Option<String>,
}

impl Rollout {
    /// What `deployment` says of itself.
    pub fn of(deployment: &Deployment) -> Self {
        let wanted = deployment.spec.as_ref().map_or(1, |spec| spec.replicas.unwrap_or(1));
        let Some(status) = &deployment.status else {
            return Self { wanted, is_under_way: true, ..Self::default() };
        };
        let is_seen = status.observed_generation >= deployment.metadata.generation;
        let updated = status.updated_replicas.unwrap_or_default();
        let stalled = condition(status, "Progressing").filter(|is| is.status == "False");
        let failure = condition(status, "ReplicaFailure").filter(|is| is.status == "True");
        Self {
            wanted,
            ready: status.ready_replicas.unwrap_or_default(),
            is_under_way: !is_seen || updated < wanted,
            stalled: stalled.filter(|is| is_seen || is_without_pods(is)).map(text),
            failure: failure.filter(|_| is_seen).map(text),
        }
    }

    /// `Available`, `Progressing` and `Degraded`, for a kind whose objects are a Deployment each.
    ///
    /// | the Deployment | Available | Progressing | Degraded |
    /// |---|---|---|---|
    /// | all pods ready, all of them as the spec says | True | False | False |
    /// | fewer ready than wanted, or under way | by the number | True | False |
    /// | stalled | by the number | False | True, with its report |
    /// | cannot create pods | by the number | True | True, with its report |
    pub fn conditions(&self) -> [Condition; 3] {
        let Self { wanted, ready, is_under_way, stalled, failure } = self;
        let is_available = ready >= wanted;
        let count = format!("{ready} of {wanted} pods are ready");
        let available = if is_available { "AllReady" } else { "NotReady" };
        let (moves, progressing) = match stalled {
            Some(_) => (false, "Stalled"),
            None if *is_under_way || !is_available => (true, "RollingOut"),
            None => (false, "Complete"),
        };
        let (degraded, report) = match (stalled, failure) {
            (Some(report), _) => ("Stalled", report.as_str()),
            (None, Some(report)) => ("CannotCreatePods", report.as_str()),
            (None, None) => ("AsExpected", "nothing is wrong"),
        };
        let is_degraded = stalled.is_some() || failure.is_some();
        [
            conditions::new("Available", is_available, available, &count),
            conditions::new("Progressing", moves, progressing, count),
            conditions::new("Degraded", is_degraded, degraded, report),
        ]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(deployment: serde_json::Value) -> Vec<String> {
        let deployment: Deployment = serde_json::from_value(deployment).unwrap();
        let conditions = Rollout::of(&deployment).conditions();
        conditions.iter().map(|is| format!("{} {}", is.status, is.reason)).collect()
    }

    fn deployment(replicas: i32, status: &serde_json::Value) -> serde_json::Value {
        let spec = serde_json::json!({
            "replicas": replicas, "selector": {}, "template": {},
        });
        serde_json::json!({"metadata": {"generation": 2}, "spec": spec, "status": status})
    }

    #[test]
    fn a_deployment_with_all_its_pods_is_available_and_at_rest() {
        let status =
            serde_json::json!({"observedGeneration": 2, "updatedReplicas": 2, "readyReplicas": 2});
        let expected = ["True AllReady", "False Complete", "False AsExpected"];
        assert_eq!(said(deployment(2, &status)), expected);
    }

    #[test]
    fn one_whose_newest_spec_was_not_seen_is_under_way() {
        let status =
            serde_json::json!({"observedGeneration": 1, "updatedReplicas": 2, "readyReplicas": 2});
        let expected = ["True AllReady", "True RollingOut", "False AsExpected"];
        assert_eq!(said(deployment(2, &status)), expected);
    }

    #[test]
    fn one_that_stalls_or_cannot_create_pods_is_degraded() {
        let with = |type_: &str, status: &str| {
            let condition =
                serde_json::json!({"type": type_, "status": status, "reason": "R", "message": "m"});
            serde_json::json!({"observedGeneration": 2, "updatedReplicas": 1, "conditions": [condition]})
        };
        let stalled = ["False NotReady", "False Stalled", "True Stalled"];
        assert_eq!(said(deployment(2, &with("Progressing", "False"))), stalled);
        let failing = ["False NotReady", "True RollingOut", "True CannotCreatePods"];
        assert_eq!(said(deployment(2, &with("ReplicaFailure", "True"))), failing);
    }

    #[test]
    fn none_wanted_is_available() {
        let status = serde_json::json!({"observedGeneration": 2});
        let expected = ["True AllReady", "False Complete", "False AsExpected"];
        assert_eq!(said(deployment(0, &status)), expected);
    }
}
