//! Objects that several tests use.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ObjectMeta;
use kubewright_testenv::Env;
use serde_json::{Value, json};

pub(crate) const MEMCACHED: &str = "docker.io/library/memcached:1.6.45";
pub(crate) const OLDER_MEMCACHED: &str = "docker.io/library/memcached:1.6.38";

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

pub(crate) fn definition(plural: &str, kind: &str) -> CustomResourceDefinition {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    typed(json!({
        "metadata": { "name": format!("{plural}.test.kubewright.dev") },
        "spec": {
            "group": "test.kubewright.dev",
            "names": { "plural": plural, "kind": kind },
            "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    }))
}

/// A pod that runs memcached, with `more` merged into its one container.
pub(crate) fn memcached(name: &str, more: Value) -> Pod {
    let mut container = json!({
        "name": "memcached",
        "image": MEMCACHED,
        "command": ["memcached", "--memory-limit=16"],
        "resources": { "requests": { "cpu": "20m", "memory": "32Mi" }, "limits": { "memory": "64Mi" } },
        "readinessProbe": { "tcpSocket": { "port": 11211 }, "periodSeconds": 1 },
    });
    if let (Value::Object(container), Value::Object(more)) = (&mut container, more) {
        container.extend(more);
    }
    typed(json!({
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": {
            "terminationGracePeriodSeconds": 5,
            "securityContext": { "runAsUser": 1001, "runAsNonRoot": true },
            "containers": [container],
        },
    }))
}

pub(crate) fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

pub(crate) async fn ready(env: &Env, name: &str) -> Pod {
    let api = env.api::<Pod>();
    env.eventually(&format!("pod {name} is ready"), async || {
        let pod = api.get(name).await.map_err(|error| error.to_string())?;
        let status = pod.status.clone().unwrap_or_default();
        let conditions = status.conditions.clone().unwrap_or_default();
        let is_ready = conditions.iter().any(|one| one.type_ == "Ready" && one.status == "True");
        if is_ready { Ok(pod) } else { Err(format!("{status:?}")) }
    })
    .await
}

pub(crate) async fn until_gone(env: &Env, name: &str) {
    env.eventually(&format!("pod {name} is gone"), async || {
        match env.api::<Pod>().get_opt(name).await {
            Ok(None) => Ok(()),
            Ok(Some(pod)) => Err(format!("deleted at {:?}", pod.metadata.deletion_timestamp)),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
}

/// Waits until the container of the pod `cache` was restarted `times` times and is ready.
pub(crate) async fn until_restarted(env: &Env, times: i32) {
    env.eventually("the container was restarted", async || {
        let pod = env.api::<Pod>().get("cache").await.map_err(|error| error.to_string())?;
        let statuses = pod.status.and_then(|status| status.container_statuses).unwrap_or_default();
        let back = statuses.iter().any(|one| one.restart_count >= times && one.ready);
        if back { Ok(()) } else { Err(format!("{statuses:?}")) }
    })
    .await;
}

/// Runs `kubectl` in the test's namespace and returns what it printed.
pub(crate) async fn kubectl(env: &Env, arguments: &[&str]) -> Result<String, String> {
    let mut command = env.kubectl();
    command.args(arguments);
    let output =
        tokio::process::Command::from(command).output().await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
