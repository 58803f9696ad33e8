//! What there is in a namespace: whether it is what the objects ask for, and with all masked that chance
//! decides. The comparisons are pure.

use anyhow::Context as _;
use kube::api::{DynamicObject, ListParams};
use kube::{Api, Client};
use memcached_api::v1alpha1::Memcached;
use memcached_operator::desired::desired;
use memcached_operator::reconcile::validate::validate;
use serde_json::{Map, Value, json};

use crate::history::kinds;

/// What differs between two runs of the same: identities, times, and what a Deployment's controller says.
const MASKED: [&str; 9] = [
    "uid",
    "namespace",
    "kubewright.dev/intent", // a hash over the owner's uid too
    "resourceVersion",
    "creationTimestamp",
    "lastTransitionTime",
    "time",
    "deletionTimestamp",
    "selfLink",
];

/// All objects of a namespace that matter, as they are, by resource.
pub async fn objects(client: &Client, namespace: &str) -> anyhow::Result<Value> {
    let mut all = Map::new();
    for (resource, kind) in kinds() {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &kind);
        let list = api.list(&ListParams::default()).await.context("the end cannot be seen")?;
        all.insert(resource.to_owned(), serde_json::to_value(list.items)?);
    }
    Ok(Value::Object(all))
}

/// Whether every cache has what it asks for, says so, and nothing is left over.
///
/// # Errors
/// What is not so, as a sentence.
pub fn is_as_desired(objects: &Value) -> Result<(), String> {
    is_as_desired_without_pods(objects)?;
    for cache in objects["memcacheds"].as_array().into_iter().flatten() {
        let (size, pods) = (&cache["spec"]["size"], &cache["status"]["replicas"]);
        if size.as_i64() != Some(pods.as_i64().unwrap_or(0)) {
            return Err(format!("the status counts {pods} of {size} pods"));
        }
    }
    Ok(())
}

/// The same where nothing makes pods.
///
/// # Errors
/// What is not so, as a sentence.
pub fn is_as_desired_without_pods(objects: &Value) -> Result<(), String> {
    let items = |resource: &str| objects[resource].as_array().cloned().unwrap_or_default();
    let (deployments, services) = (items("deployments"), items("services"));
    let caches = items("memcacheds");
    for (what, children) in [("Deployments", &deployments), ("Services", &services)] {
        if children.len() != caches.len() {
            return Err(format!("{} {what} for {} caches", children.len(), caches.len()));
        }
    }
    for cache in caches {
        is_served(&cache, &deployments, &services)?;
    }
    Ok(())
}

fn is_served(cache: &Value, deployments: &[Value], services: &[Value]) -> Result<(), String> {
    let uid = &cache["metadata"]["uid"];
    let [deployment, service] = wanted(cache)?;
    for (children, wanted) in [(deployments, deployment), (services, service)] {
        let owned = children.iter().find(|child| is_owned(child, uid));
        includes(owned.ok_or("a child is missing")?, &wanted, &mut String::new())?;
    }
    let (status, generation) = (&cache["status"], &cache["metadata"]["generation"]);
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let reconciled = conditions.iter().find(|condition| condition["type"] == "Reconciled");
    let said = reconciled.map(|it| (&it["status"], &it["observedGeneration"]));
    if said != Some((&json!("True"), generation)) || status["observedGeneration"] != *generation {
        return Err(format!("generation {generation} is not told as reconciled: {said:?}"));
    }
    Ok(())
}

/// The Deployment and the Service that a cache asks for.
pub(crate) fn wanted(cache: &Value) -> Result<[Value; 2], String> {
    let typed: Memcached =
        serde_json::from_value(cache.clone()).map_err(|error| format!("no Memcached: {error}"))?;
    let cluster = validate(&typed, None).map_err(|error| error.to_string())?;
    let wanted = desired(&cluster);
    let children = [serde_json::to_value(wanted.deployment), serde_json::to_value(wanted.service)];
    let mut all = [Value::Null, Value::Null];
    for (place, child) in all.iter_mut().zip(children) {
        *place = child.map_err(|error| error.to_string())?;
        if let Value::Object(child) = place {
            child.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind")); // not in lists
        }
    }
    Ok(all)
}

fn is_owned(child: &Value, uid: &Value) -> bool {
    let owners = child["metadata"]["ownerReferences"].as_array();
    owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == *uid))
}

/// Whether `wanted` is a part of `is`. Lists are compared item by item.
pub(crate) fn includes(is: &Value, wanted: &Value, path: &mut String) -> Result<(), String> {
    let length = path.len();
    let result = match (is, wanted) {
        (Value::Object(is), Value::Object(wanted)) => {
            wanted.iter().try_for_each(|(name, wanted)| {
                path.truncate(length);
                path.push('.');
                path.push_str(name);
                includes(is.get(name).unwrap_or(&Value::Null), wanted, path)
            })
        }
        (Value::Array(is), Value::Array(wanted)) if is.len() == wanted.len() => {
            is.iter().zip(wanted).try_for_each(|(is, wanted)| includes(is, wanted, path))
        }
        (is, wanted) if is == wanted => Ok(()),
        (is, wanted) => Err(format!("{path} is {is} and should be {wanted}")),
    };
    path.truncate(length);
    result
}

/// The same objects with all masked that differs between two runs of the same.
pub fn masked(objects: &Value) -> Value {
    let mut masked = objects.clone();
    for (resource, objects) in masked.as_object_mut().into_iter().flatten() {
        for object in objects.as_array_mut().into_iter().flatten() {
            if resource != "memcacheds" {
                object["status"] = Value::Null;
            }
            keep_own_fields(object);
            mask(object);
        }
    }
    masked
}

/// What other managers own, and in which order managers are listed, is a matter of time.
fn keep_own_fields(object: &mut Value) {
    let fields = &mut object["metadata"]["managedFields"];
    let mut own = fields.as_array().cloned().unwrap_or_default();
    own.retain(|entry| entry["manager"] == "memcached-operator");
    own.sort_by_key(|entry| entry["subresource"].to_string() + &entry["operation"].to_string());
    *fields = Value::Array(own);
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let by_uid = |name: &&String| name.starts_with(r#"k:{"uid":"#);
            if let Some(name) = object.keys().find(by_uid).cloned()
                && let Some(own) = object.remove(&name)
            {
                object.insert("k:uid".to_owned(), own);
            }
            for (name, value) in object.iter_mut() {
                if MASKED.contains(&name.as_str()) {
                    *value = Value::Null;
                } else if name == "nodes" {
                    *value = json!(value.as_array().map_or(0, Vec::len));
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) => *text = without_pods(text),
        _ => {}
    }
}

/// A message without the names of pods, which end in chance: `cache-5486cd59b6-cjm27`.
fn without_pods(text: &str) -> String {
    let word = |word: &str| {
        let plain = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let parts: Vec<_> = plain.split('-').collect();
        match parts.as_slice() {
            [.., template, chance]
                if parts.len() >= 3 && template.len() >= 8 && chance.len() == 5 =>
            {
                word.replace(plain, "POD")
            }
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pods_and_identities_are_masked() {
        let objects = json!({"memcacheds": [{
            "metadata": {"uid": "1", "name": "cache", "managedFields": [{"manager": "kubectl"}]},
            "status": {"nodes": ["a", "b"], "message": "pod cache-5486cd59b6-cjm27: not scheduled"},
        }]});
        let masked = masked(&objects);
        let cache = &masked["memcacheds"][0];
        assert_eq!(cache["metadata"]["uid"], Value::Null);
        assert_eq!(cache["metadata"]["managedFields"], json!([]));
        assert_eq!(cache["status"]["nodes"], 2);
        assert_eq!(cache["status"]["message"], "pod POD: not scheduled");
    }

    #[test]
    fn what_is_wanted_is_a_part_of_what_is() {
        let is = json!({"a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}]});
        assert_eq!(
            includes(&is, &json!({"a": {"b": 1}, "d": [{"e": 1}]}), &mut String::new()),
            Ok(())
        );
        let error = includes(&is, &json!({"a": {"b": 2}}), &mut String::new()).unwrap_err();
        assert_eq!(error, ".a.b is 1 and should be 2");
    }
}
