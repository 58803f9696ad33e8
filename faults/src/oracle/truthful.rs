//! V6: no version of a status says what was not so. All kinds share one count of versions, so what there was
//! when a status was written is known.

use std::collections::HashMap;

use serde_json::Value;

use crate::history::Seen;
use crate::run::Observed;

pub(super) fn judge(run: &Observed) -> Vec<String> {
    judge_history(&run.history)
}

/// Looks at every version of every cache.
pub(crate) fn judge_history(history: &[Seen]) -> Vec<String> {
    let mut wrong = Vec::new();
    let caches = |seen: &&Seen| seen.resource == "memcacheds" && seen.type_ != "DELETED";
    let mut before: HashMap<&str, &Value> = HashMap::new();
    for seen in history.iter().filter(caches) {
        let cache = &*seen.object;
        wrong.extend(ahead(cache));
        if is_true(cache, "Reconciled") && cache["metadata"]["deletionTimestamp"].is_null() {
            wrong.extend(unreconciled(history, seen));
        }
        let available = is_true(cache, "Available");
        if available && !was_available(history, seen) && !none_was_wanted(history, cache) {
            wrong.push(format!("version {} is Available and its Deployment was not", seen.version));
        }
        let uid = cache["metadata"]["uid"].as_str().unwrap_or_default();
        let same = before.insert(uid, cache);
        wrong.extend(same.into_iter().flat_map(|before| restless(before, cache)));
    }
    wrong
}

fn conditions(cache: &Value) -> &[Value] {
    cache["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_true(cache: &Value, type_: &str) -> bool {
    conditions(cache)
        .iter()
        .any(|condition| condition["type"] == type_ && condition["status"] == "True")
}

/// What a status is about that is not there yet.
fn ahead(cache: &Value) -> Vec<String> {
    let generation = cache["metadata"]["generation"].as_i64().unwrap_or(0);
    let told = |value: &Value| value["observedGeneration"].as_i64().unwrap_or(0) > generation;
    let mut wrong = Vec::new();
    if told(&cache["status"]) {
        wrong.push(format!("the status is ahead of generation {generation}"));
    }
    let ahead = conditions(cache).iter().filter(|condition| told(condition));
    wrong.extend(ahead.map(|it| format!("{} is ahead of generation {generation}", it["type"])));
    wrong
}

/// "Reconciled" is about a generation: at some time since that one there was a Deployment of this cache with
/// its size. Later, somebody may have changed it again.
fn unreconciled(history: &[Seen], status: &Seen) -> Option<String> {
    let cache = &status.object;
    let told = conditions(cache).iter().find(|condition| condition["type"] == "Reconciled")?;
    let about = &told["observedGeneration"];
    let same = |seen: &&Seen| {
        seen.resource == "memcacheds"
            && seen.object["metadata"]["uid"] == cache["metadata"]["uid"]
            && seen.object["metadata"]["generation"] == *about
    };
    let asked = history.iter().find(same)?;
    let (size, port) = (&asked.object["spec"]["size"], &asked.object["spec"]["containerPort"]);
    let matched = history.iter().any(|seen| {
        let spec = &seen.object["spec"];
        let owner = &seen.object["metadata"]["ownerReferences"][0]["uid"];
        seen.resource == "deployments"
            && seen.version < status.version
            && owner == &cache["metadata"]["uid"]
            && spec["replicas"] == *size
            && spec["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] == *port
    });
    (!matched).then(|| format!("version {} is Reconciled and was never", status.version))
}

fn was_available(history: &[Seen], status: &Seen) -> bool {
    history.iter().any(|seen| {
        let owner = &seen.object["metadata"]["ownerReferences"][0]["uid"];
        let ours = *owner == status.object["metadata"]["uid"];
        seen.resource == "deployments" && ours && seen.version < status.version && {
            let conditions = seen.object["status"]["conditions"].as_array();
            conditions.is_some_and(|conditions| {
                conditions.iter().any(|it| it["type"] == "Available" && it["status"] == "True")
            })
        }
    })
}

/// Where no instance is wanted there is none to wait for, and the status says that it is so because of that.
fn none_was_wanted(history: &[Seen], cache: &Value) -> bool {
    let Some(available) = conditions(cache).iter().find(|it| it["type"] == "Available") else {
        return false;
    };
    let asked = |seen: &Seen| {
        let metadata = &seen.object["metadata"];
        seen.resource == "memcacheds"
            && metadata["uid"] == cache["metadata"]["uid"]
            && metadata["generation"] == available["observedGeneration"]
            && seen.object["spec"]["size"] == 0
    };
    available["reason"] == "NoneWanted" && history.iter().any(asked)
}

/// A time that changes without the status it is about.
fn restless(before: &Value, after: &Value) -> Vec<String> {
    let changed = |old: &&Value| {
        let new = conditions(after).iter().find(|new| new["type"] == old["type"]);
        new.is_some_and(|new| {
            new["status"] == old["status"] && new["lastTransitionTime"] != old["lastTransitionTime"]
        })
    };
    let restless = conditions(before).iter().filter(changed);
    restless.map(|it| format!("the time of {} changed without a transition", it["type"])).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn cache(version: u64, size: i32, status: &str, time: &str) -> Seen {
        let condition = json!({"type": "Reconciled", "status": status, "observedGeneration": 1,
            "lastTransitionTime": time});
        let object = json!({"metadata": {"uid": "1", "generation": 1}, "spec": {"size": size},
            "status": {"observedGeneration": 1, "conditions": [condition]}});
        Seen { resource: "memcacheds", type_: "MODIFIED", version, object: Arc::new(object) }
    }

    fn deployment(version: u64, size: i32) -> Seen {
        let object =
            json!({"metadata": {"ownerReferences": [{"uid": "1"}]}, "spec": {"replicas": size}});
        Seen { resource: "deployments", type_: "ADDED", version, object: Arc::new(object) }
    }

    #[test]
    fn reconciled_is_true_only_after_the_deployment_is_so() {
        let truth = [cache(1, 2, "False", "a"), deployment(2, 2), cache(3, 2, "True", "b")];
        assert_eq!(judge_history(&truth), Vec::<String>::new());
        let lie = [cache(1, 2, "True", "b"), deployment(2, 2)];
        assert_eq!(judge_history(&lie), ["version 1 is Reconciled and was never"]);
    }

    #[test]
    fn a_time_changes_with_its_condition_only() {
        let restless = [cache(1, 2, "False", "a"), cache(2, 2, "False", "b")];
        assert_eq!(judge_history(&restless).len(), 1);
    }

    #[test]
    fn who_wants_none_has_all_that_is_wanted() {
        let told = |size: i32, reason: &str| {
            let mut seen = cache(2, size, "False", "a");
            let mut object = (*seen.object).clone();
            object["status"]["conditions"] = json!([{"type": "Available", "status": "True",
                "reason": reason, "observedGeneration": 1}]);
            seen.object = Arc::new(object);
            judge_history(&[seen])
        };
        assert_eq!(told(0, "NoneWanted"), Vec::<String>::new());
        let lie = ["version 2 is Available and its Deployment was not"];
        assert_eq!(
            (told(2, "NoneWanted"), told(0, "AllReady")),
            (lie.map(str::to_owned).to_vec(), lie.map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn a_status_is_never_ahead() {
        let mut early = cache(1, 2, "False", "a");
        let mut object = (*early.object).clone();
        object["status"]["observedGeneration"] = json!(2);
        early.object = Arc::new(object);
        assert_eq!(judge_history(&[early]), ["the status is ahead of generation 1"]);
    }
}
