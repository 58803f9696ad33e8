//! Whether a Deployment serves. Pure: the Deployment and its pods.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;

use super::{Look, Sentence, pods};

/// How far `deployment` is.
pub(crate) fn look(deployment: &Deployment, of_it: &[Pod]) -> Look<()> {
    let object = format!("deployment/{}", deployment.metadata.name.as_deref().unwrap_or_default());
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let status = deployment.status.clone().unwrap_or_default();
    let is_seen = status.observed_generation >= deployment.metadata.generation;
    let ready = status.ready_replicas.unwrap_or_default();
    let new = status.updated_replicas.unwrap_or_default();
    if is_seen && ready >= wanted && new >= wanted {
        return Look::Done(());
    }
    if let Some(trouble) = pods::trouble(of_it) {
        return Look::Troubled(trouble);
    }
    let conditions = status.conditions.iter().flatten();
    let refused =
        conditions.clone().find(|one| one.type_ == "ReplicaFailure" && one.status == "True");
    if let Some(refused) = refused {
        let why = refused.message.clone().unwrap_or_default();
        let remedy =
            "its namespace does not let its pods be: look at its quotas and at its pod security";
        return Look::Troubled(Sentence::new(object, why).remedy(remedy));
    }
    Look::Waiting(Sentence::new(object, format!("{ready} of {wanted} pods are ready")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn look_at(status: &Value) -> Look<()> {
        let deployment = json!({
            "metadata": { "name": "a", "generation": 2 },
            "spec": { "replicas": 1, "selector": {}, "template": {} },
            "status": status,
        });
        look(&serde_json::from_value(deployment).unwrap(), &[])
    }

    #[test]
    fn a_deployment_serves_when_all_pods_are_new_and_ready() {
        let done = json!({ "observedGeneration": 2, "readyReplicas": 1, "updatedReplicas": 1 });
        assert_eq!(look_at(&done), Look::Done(()));
        let old = json!({ "observedGeneration": 1, "readyReplicas": 1, "updatedReplicas": 1 });
        assert!(matches!(look_at(&old), Look::Waiting(_)));
    }

    #[test]
    fn pods_that_may_not_be_are_told_in_the_server_s_words() {
        let conditions = json!([{
            "type": "ReplicaFailure", "status": "True", "message": "exceeded quota",
        }]);
        let look = look_at(&json!({ "conditions": conditions }));
        let Look::Troubled(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.why, "exceeded quota");
    }
}
