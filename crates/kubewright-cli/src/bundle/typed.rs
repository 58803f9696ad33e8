//! The types of what no rule asks for. Upstream decodes an object as a whole, and refuses it for any field; so does the
//! lifecycle manager. Pure: object -> why it cannot be decoded, if so.

use std::collections::BTreeMap;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::names::is_quantity;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    maturity: String,
    skips: Vec<String>,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    selector: LabelSelector,
    #[serde(rename = "nativeAPIs")]
    native: Vec<Native>,
    cleanup: Cleanup,
    customresourcedefinitions: Apis,
    apiservicedefinitions: Apis,
    webhookdefinitions: Vec<Webhook>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Native {
    group: String,
    version: String,
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cleanup {
    enabled: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Apis {
    owned: Vec<Api>,
    required: Vec<Api>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Api {
    display_name: String,
    description: String,
    deployment_name: String,
    container_port: i32,
    resources: Vec<Named>,
    spec_descriptors: Vec<Descriptor>,
    status_descriptors: Vec<Descriptor>,
    action_descriptors: Vec<Descriptor>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Descriptor {
    path: String,
    display_name: String,
    description: String,
    #[serde(rename = "x-descriptors")]
    hints: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Webhook {
    container_port: i32,
    target_port: Option<IntOrString>,
    rules: Vec<RuleWithOperations>,
    failure_policy: String,
    match_policy: String,
    object_selector: LabelSelector,
    timeout_seconds: i32,
    reinvocation_policy: String,
    #[serde(rename = "webhookPath")]
    path: String,
}

/// Of a release, beside what is decoded of it anyway.
pub(super) fn release(object: &Value) -> Option<String> {
    let spec = object.get("spec")?;
    if let Some(wrong) = wrong::<Spec>(spec) {
        return Some(wrong);
    }
    let mut found = Vec::new();
    let deployments = spec.pointer("/install/spec/deployments").and_then(Value::as_array);
    deployments.into_iter().flatten().for_each(|one| quantities(&one["spec"], &mut found));
    let wrong = found.into_iter().find(|quantity| !is_quantity(quantity))?;
    Some(format!("`{wrong}` is no quantity"))
}

/// Of an object beside the release, if upstream decodes its kind.
pub(super) fn object(object: &Value) -> Option<String> {
    let as_version = |version: &str| {
        let mut object = object.clone();
        // Whatever version it says: upstream takes all for the same.
        object["apiVersion"] = json!(version);
        object
    };
    match object["kind"].as_str()? {
        "PodDisruptionBudget" => wrong::<PodDisruptionBudget>(&as_version("policy/v1")),
        "PriorityClass" => wrong::<PriorityClass>(&as_version("scheduling.k8s.io/v1")),
        "Role" => wrong::<Role>(&as_version("rbac.authorization.k8s.io/v1")),
        "ClusterRole" => wrong::<ClusterRole>(&as_version("rbac.authorization.k8s.io/v1")),
        _ => None,
    }
}

fn wrong<T: DeserializeOwned>(value: &Value) -> Option<String> {
    serde_json::from_value::<T>(value.clone()).err().map(|error| error.to_string())
}

/// All amounts in a Deployment's spec: of containers, of volumes, and what the environment counts in.
fn quantities(value: &Value, found: &mut Vec<String>) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(list) => list.iter().for_each(|one| quantities(one, found)),
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("limits" | "requests", Value::Object(amounts)) => {
                        found.extend(amounts.values().map(text));
                    }
                    ("emptyDir" | "resourceFieldRef", Value::Object(fields)) => {
                        let amounts = ["sizeLimit", "divisor"].map(|key| fields.get(key));
                        found.extend(amounts.into_iter().flatten().map(text));
                    }
                    (_, value) => quantities(value, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_must_have_its_type_too() {
        for spec in [
            json!({ "skips": "a.v1" }),
            json!({ "maturity": 1 }),
            json!({ "labels": ["a"] }),
            json!({ "selector": { "matchLabels": "a" } }),
            json!({ "customresourcedefinitions": { "owned": [
                { "specDescriptors": [{ "x-descriptors": "urn:a" }] },
            ]}}),
        ] {
            assert!(release(&json!({ "spec": spec })).is_some(), "{spec}");
        }
        assert_eq!(release(&json!({ "spec": { "skips": ["a"], "maturity": "alpha" } })), None);
    }

    #[test]
    fn amounts_of_a_deployment_are_quantities() {
        let with = |memory: Value| {
            let container = json!({ "resources": { "limits": { "memory": memory } } });
            let pod = json!({ "spec": { "containers": [container] } });
            let deployments = json!([{ "name": "a", "spec": { "template": pod } }]);
            release(&json!({ "spec": { "install": { "spec": { "deployments": deployments } } } }))
        };
        assert_eq!(with(json!("128MiB")).as_deref(), Some("`128MiB` is no quantity"));
        for right in [json!("128Mi"), json!("0.5"), json!(1), json!(1.5), json!("1e3")] {
            assert_eq!(with(right.clone()), None, "{right}");
        }
    }

    #[test]
    fn objects_beside_the_release_are_decoded_whatever_their_version() {
        let role = |rules: Value| json!({ "apiVersion": "rbac.authorization.k8s.io/v1beta1", "kind": "Role", "rules": rules });
        assert!(object(&role(json!("all"))).is_some());
        assert_eq!(object(&role(json!([{ "verbs": ["get"] }]))), None);
        let budget =
            json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": "one" });
        assert!(object(&budget).is_some());
        assert_eq!(object(&json!({ "kind": "ConfigMap", "data": "a" })), None);
    }
}
