//! Small histories, told by hand.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::state::wanted;

fn seen(resource: &'static str, version: u64, object: Value) -> Seen {
    Seen { resource, type_: "MODIFIED", version, object: Arc::new(object) }
}

/// A cache of generation 1 that says one thing of it.
fn telling(version: u64, size: i32, condition: Value) -> Seen {
    let mut condition = condition;
    condition["observedGeneration"] = json!(1);
    let object = json!({"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": "cache", "namespace": "a", "uid": "1", "generation": 1},
        "spec": {"size": size}, "status": {"observedGeneration": 1, "conditions": [condition]}});
    seen("memcacheds", version, object)
}

fn cache(version: u64, size: i32, status: &str, time: u8) -> Seen {
    let time = format!("2026-01-01T00:00:0{time}Z");
    let said = json!({"type": "Reconciled", "status": status, "reason": "a", "message": "",
        "lastTransitionTime": time});
    telling(version, size, said)
}

/// What a cache of this size asks for, as it is once it is owned.
fn child(resource: &'static str, version: u64, size: i32) -> Seen {
    let [deployment, service] = wanted(&cache(1, size, "False", 0).object).unwrap();
    let mut child = if resource == "services" { service } else { deployment };
    child["metadata"]["ownerReferences"] = json!([{"uid": "1"}]);
    seen(resource, version, child)
}

fn judged(history: &[Seen]) -> Vec<String> {
    judge_history(history, News::OnTime)
}

fn gone(child: Seen) -> Seen {
    Seen { type_: "DELETED", ..child }
}

#[test]
fn reconciled_is_true_only_after_both_children_are_so() {
    let asked = || cache(1, 2, "False", 0);
    let told = |version: u64| cache(version, 2, "True", 1);
    let (deployment, service) =
        (|version| child("deployments", version, 2), |version| child("services", version, 2));
    assert_eq!(judged(&[asked(), deployment(2), service(3), told(4)]), Vec::<String>::new());
    let never = |why: &str| vec![format!("version 3 is Reconciled and was never: {why}")];
    assert_eq!(judged(&[asked(), deployment(2), told(3)]), never("there was no Service"));
    assert_eq!(judged(&[asked(), service(2), told(3)]), never("there was no Deployment"));
    let early = [told(1), deployment(2), service(3)];
    assert_eq!(judged(&early), ["version 1 is Reconciled and was never: there was nothing yet"]);
}

#[test]
fn what_the_children_were_before_they_were_asked_for_does_not_count() {
    let before = [child("deployments", 1, 2), child("services", 2, 2)];
    let between = [child("deployments", 3, 1)];
    let after = [cache(4, 2, "False", 0), cache(5, 2, "True", 1)];
    let history: Vec<_> = before.iter().chain(&between).chain(&after).cloned().collect();
    assert_eq!(
        judged(&history),
        ["version 5 is Reconciled and was never: .spec.replicas is 1 and should be 2"]
    );
    assert_eq!(judge_history(&history, News::Late), Vec::<String>::new(), "nobody had heard");
    let history: Vec<_> = before.into_iter().chain(after).collect();
    assert_eq!(judged(&history), Vec::<String>::new(), "they were so already");
}

#[test]
fn children_that_are_there_one_after_the_other_are_not_both() {
    let (deployment, service) = (child("deployments", 2, 2), child("services", 4, 2));
    let left = gone(child("deployments", 3, 2));
    let history = [cache(1, 2, "False", 0), deployment, left, service, cache(5, 2, "True", 1)];
    assert_eq!(
        judged(&history),
        ["version 5 is Reconciled and was never: there was no Deployment"]
    );
}

#[test]
fn a_time_changes_with_its_condition_only() {
    let restless = [cache(1, 2, "False", 0), cache(2, 2, "False", 1)];
    assert_eq!(judged(&restless).len(), 1);
}

#[test]
fn who_wants_none_has_all_that_is_wanted() {
    let told = |size: i32, reason: &str| {
        judged(&[telling(
            2,
            size,
            json!({"type": "Available", "status": "True", "reason": reason}),
        )])
    };
    assert_eq!(told(0, "NoneWanted"), Vec::<String>::new());
    let lie = ["version 2 is Available and its Deployment was not"];
    assert_eq!(told(2, "NoneWanted"), lie);
    assert_eq!(told(0, "AllReady"), lie);
}

#[test]
fn a_status_is_never_ahead() {
    let mut early = cache(1, 2, "False", 0);
    let mut object = (*early.object).clone();
    object["status"]["observedGeneration"] = json!(2);
    early.object = Arc::new(object);
    assert_eq!(judged(&[early]), ["the status is ahead of generation 1"]);
}

#[test]
fn a_word_comes_back_once_and_no_more_unless_a_child_has_changed() {
    let says = |version, reason: &str| {
        telling(version, 1, json!({"type": "Degraded", "status": "True", "reason": reason}))
    };
    let mut history = vec![says(1, "a"), says(2, "b"), says(3, "a"), says(4, "b")];
    assert_eq!(judged(&history), Vec::<String>::new());
    history.push(says(5, "a"));
    assert_eq!(judged(&history).len(), 1, "for the third time");
    history[2] = child("deployments", 3, 1);
    history.insert(3, says(4, "a"));
    assert_eq!(judged(&history), Vec::<String>::new());
}
