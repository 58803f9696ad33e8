//! The truth tables of the conditions, and the facts beside them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::conditions;
use serde_json::{Value, json};

use super::*;
use crate::fixtures::{cluster, memcached, observed};
use crate::reconcile::validate::Invalid;

/// A Deployment of generation 2 with `replicas` wanted.
fn deployment(replicas: i32, status: Value) -> Deployment {
    let template = json!({"metadata": {}, "spec": {"containers": []}});
    let spec = json!({"replicas": replicas, "selector": {}, "template": template});
    let mut object = json!({"metadata": {"generation": 2}, "spec": spec});
    object["status"] = status;
    serde_json::from_value(object).unwrap()
}

fn complete(replicas: i32) -> Deployment {
    deployment(replicas, json!({"observedGeneration": 2, "updatedReplicas": replicas}))
}

fn stated(condition: &Condition) -> String {
    format!("{} {}", condition.status, condition.reason)
}

/// Status and reason of all three conditions.
fn conditions_of(size: i32, observed: &Observed, deployment: &Deployment) -> [String; 3] {
    let object = memcached("a", json!({"size": size}));
    let status = status(&object, None, observed, Progress::Applied(deployment));
    ["Available", "Progressing", "Degraded"]
        .map(|type_| stated(conditions::find(&status.conditions, type_).unwrap()))
}

#[test]
fn conditions_follow_pods_and_deployment() {
    let fine = "False AsExpected";
    // size; pods that are ready, all pods; generation that the Deployment has seen, pods that it updated
    for (size, pods, (seen, updated), expected) in [
        (3, (3, 3), (2, 3), ["True AllReady", "False Complete", fine]),
        (3, (2, 3), (2, 3), ["False NotReady", "True RollingOut", fine]),
        (3, (0, 0), (0, 0), ["False NotReady", "True RollingOut", fine]),
        (1, (3, 3), (2, 1), ["True AllReady", "True Stopping", fine]),
        (0, (0, 0), (2, 0), ["True NoneWanted", "False Complete", fine]),
        (0, (1, 1), (2, 0), ["True NoneWanted", "True Stopping", fine]),
        (2, (2, 2), (1, 2), ["True AllReady", "True RollingOut", fine]),
        (2, (2, 2), (2, 1), ["True AllReady", "True RollingOut", fine]),
    ] {
        let status = json!({"observedGeneration": seen, "updatedReplicas": updated});
        let deployment = deployment(size, status);
        let actual = conditions_of(size, &observed(pods.0, pods.1), &deployment);
        assert_eq!(actual, expected, "size {size}, pods {pods:?}, {seen}, {updated}");
    }
}

#[test]
fn a_deployment_that_cannot_begin_is_degraded_though_it_has_seen_nothing() {
    let because = |reason: &str| {
        let condition = json!({"type": "Progressing", "status": "False", "reason": reason});
        let deployment = deployment(1, json!({"conditions": [condition]}));
        conditions_of(1, &observed(0, 0), &deployment)[2].clone()
    };
    assert_eq!(because("ReplicaSetCreateError"), "True Stalled");
    assert_eq!(because("ProgressDeadlineExceeded"), "False AsExpected", "of an older generation");
}

#[test]
fn a_deployment_that_is_stuck_is_degraded() {
    let stuck = |type_: &str, status: &str| {
        deployment(
            1,
            json!({"observedGeneration": 2, "updatedReplicas": 1, "conditions": [
                {"type": type_, "status": status, "reason": "Why", "message": "no quota"}]}),
        )
    };
    let [_, progressing, degraded] =
        conditions_of(1, &observed(0, 0), &stuck("Progressing", "False"));
    assert_eq!([progressing, degraded], ["False Stalled", "True Stalled"]);
    let [_, _, degraded] = conditions_of(1, &observed(0, 0), &stuck("ReplicaFailure", "True"));
    assert_eq!(degraded, "True ReplicaFailure");
}

#[test]
fn a_pod_that_fails_is_named() {
    let mut pods = observed(1, 3);
    pods.instances[1].trouble = Some("cannot pull the image x".to_owned());
    pods.instances[2].trouble = Some("keeps ending".to_owned());
    let object = memcached("a", json!({"size": 3}));
    let status = status(&object, None, &pods, Progress::Applied(&complete(3)));
    let degraded = conditions::find(&status.conditions, "Degraded").unwrap();
    assert_eq!(stated(degraded), "True PodFailing");
    assert_eq!(degraded.message, "pod pod-1 cannot pull the image x; 1 more fail");
}

#[test]
fn a_failed_pass_keeps_the_facts_and_says_why() {
    let object = memcached("a", json!({"size": 3}));
    let error = Error::Invalid(Invalid::Size(-1));
    let status = status(&object, None, &observed(3, 3), Progress::Failed(&error));
    assert_eq!(status.ready_replicas, Some(3));
    let degraded = conditions::find(&status.conditions, "Degraded").unwrap();
    assert_eq!(stated(degraded), "True Invalid");
    assert_eq!(degraded.message, "spec.size is -1: it must be 0 to 1000");
    let progressing = conditions::find(&status.conditions, "Progressing").unwrap();
    assert_eq!(stated(progressing), "False Failed");
}

#[test]
fn the_facts_are_sorted_and_absent_while_there_are_none() {
    let object = memcached("a", json!({"size": 3, "containerPort": 80}));
    let cluster = cluster("a", json!({}));
    let mut pods = observed(2, 3);
    pods.instances[0].address = Some("fd00::1".to_owned());
    let some = status(&object, Some(&cluster), &pods, Progress::Applied(&complete(3)));
    assert_eq!(some.nodes.unwrap(), ["pod-0", "pod-1", "pod-2"]);
    assert_eq!(some.server_list.unwrap(), ["10.0.0.1:80", "[fd00::1]:80"]);
    assert_eq!((some.replicas, some.ready_replicas), (Some(3), Some(2)));
    assert_eq!(some.selector.as_deref(), Some("cache.example.com/memcached=a"));
    assert_eq!(some.observed_generation, Some(4));
    let none = status(&object, None, &observed(0, 0), Progress::Applied(&complete(3)));
    assert_eq!((none.nodes, none.server_list, none.replicas), (None, None, Some(0)));
}

#[test]
fn an_object_that_goes_keeps_its_status_and_says_that_it_goes() {
    let mut object = memcached("a", json!({}));
    object.status = Some(status(&object, None, &observed(1, 1), Progress::Applied(&complete(1))));
    let status = finalizing(&object);
    let degraded = conditions::find(&status.conditions, "Degraded").unwrap();
    assert_eq!(stated(degraded), "True Finalizing");
    assert!(conditions::is_true(&status.conditions, "Available"));
    assert_eq!(status.conditions.len(), 3);
}
