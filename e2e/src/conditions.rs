//! What an object says of itself, and how a test writes one.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use serde_json::{Value, json};

/// A `Memcached` as `kubectl apply` takes it.
#[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
pub fn manifest(name: &str, spec: Value) -> String {
    let (version, metadata) = ("cache.example.com/v1alpha1", json!({"name": name}));
    json!({"apiVersion": version, "kind": "Memcached", "metadata": metadata, "spec": spec})
        .to_string()
}

/// Waits until the object has a condition with this status and reason, and gives the object's status of
/// that moment with the condition's message.
pub async fn until_condition(
    env: &Env,
    name: &str,
    (type_, status, reason): (&str, &str, &str),
) -> (Memcached, String) {
    let api = env.api::<Memcached>();
    env.eventually(&format!("{name} is {type_}={status} by {reason}"), async || {
        let memcached = api.get(name).await.map_err(|error| error.to_string())?;
        let conditions = memcached.status.as_ref().map(|status| &status.conditions);
        let mut conditions = conditions.into_iter().flatten();
        let is =
            |one: &&Condition| one.type_ == type_ && one.status == status && one.reason == reason;
        match conditions.find(is).map(|condition| condition.message.clone()) {
            Some(message) => Ok((memcached, message)),
            None => Err(format!("{:?}", memcached.status)),
        }
    })
    .await
}
