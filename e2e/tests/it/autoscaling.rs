//! What becomes of a real `HorizontalPodAutoscaler`: on a `Memcached` it is obeyed, on the Deployment undone.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use kubewright_testenv::Env;
use memcached_e2e::conditions::{manifest, until_condition};
use memcached_e2e::deployed::{
    deploy, deployed, installation, nothing_was_forbidden, requests, until_ready,
};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::{apply, kubectl};
use memcached_e2e::metrics;
use memcached_e2e::servers::{busy, set_and_get};
use serde_json::json;

const MEMCACHED: (&str, &str) = ("cache.example.com/v1alpha1", "Memcached");
const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");

/// An autoscaler named as what it scales, by the processor's use: 60 % of the 50m that an instance asks for.
fn autoscaler((version, kind): (&str, &str), name: &str, from: i32, to: i32) -> String {
    let target = json!({"type": "Utilization", "averageUtilization": 60});
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": version, "kind": kind, "name": name},
            "minReplicas": from, "maxReplicas": to,
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    })
    .to_string()
}

/// Waits until the autoscaler computes, which takes metrics and a selector that finds the pods.
async fn until_active(env: &Env, name: &str) {
    env.eventually("the autoscaler computes", async || {
        let autoscaler = env.api::<HorizontalPodAutoscaler>().get(name).await;
        let status = autoscaler.map_err(|error| error.to_string())?.status.unwrap_or_default();
        let conditions = status.conditions.clone().unwrap_or_default();
        let is_active =
            conditions.iter().any(|one| one.type_ == "ScalingActive" && one.status == "True");
        if is_active { Ok(()) } else { Err(format!("{conditions:?}")) }
    })
    .await;
}

async fn until_top_answers(env: &Env) {
    env.eventually("kubectl top pods answers", async || {
        let output = env.kubectl().args(["top", "pods", "--no-headers"]).output();
        let output = output.map_err(|error| error.to_string())?;
        let told = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && told.starts_with("scaled-") && told.contains("Mi") {
            return Ok(());
        }
        Err(format!("{told}{}", String::from_utf8_lossy(&output.stderr)))
    })
    .await;
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn an_autoscaler_on_a_memcached_is_obeyed(env: Env) {
    deploy(&env, &installation(Build::Shipped), Build::Shipped).await.unwrap();
    apply(&env, &manifest("scaled", json!({"size": 1})));
    metrics::install(&env).await.unwrap();
    until_ready(&env, "scaled", 1).await;
    until_top_answers(&env).await;

    apply(&env, &autoscaler(MEMCACHED, "scaled", 1, 3));
    until_active(&env, "scaled").await;
    let servers = set_and_get(&env, "scaled").await;
    let load = busy(&servers[0]);
    let grown = until_ready(&env, "scaled", 3).await;
    assert_eq!(grown.spec.size, 3, "the autoscaler writes the spec, by way of the scale");
    apply(&env, &autoscaler(MEMCACHED, "scaled", 1, 2));
    until_ready(&env, "scaled", 2).await;
    drop(load);
    until_ready(&env, "scaled", 1).await;
    apply(&env, &autoscaler(MEMCACHED, "scaled", 2, 3));
    until_ready(&env, "scaled", 2).await;
    assert_eq!(set_and_get(&env, "scaled").await.len(), 2);
    nothing_was_forbidden(&env);
}

/// How often the operator has written to a Deployment.
fn put_back(env: &Env) -> usize {
    let of_deployments = |verb: &str, resource: &str| verb == "patch" && resource == "deployments";
    requests(env).iter().filter(|one| of_deployments(&one.verb, &one.resource)).count()
}

/// An autoscaler that looks each 15 seconds, as they do by default, is undone each time and for ever. Here it
/// looks each 5, which is more than 5 times a minute, and so a fight.
#[kubewright_testenv::test(nodes = 1)]
async fn an_autoscaler_on_the_deployment_is_undone_and_then_named(env: Env) {
    deployed(&env).await;
    apply(&env, &manifest("contested", json!({"size": 1})));
    until_ready(&env, "contested", 1).await;
    let before = put_back(&env);
    apply(&env, &autoscaler(DEPLOYMENT, "contested", 3, 3));
    env.eventually("what the autoscaler does is undone", async || {
        let times = put_back(&env) - before;
        let deployment = env.api::<Deployment>().get("contested").await;
        let spec = deployment.map_err(|error| error.to_string())?.spec.unwrap_or_default();
        let is_undone = times >= 2 && spec.replicas == Some(1);
        if is_undone { Ok(()) } else { Err(format!("{times} times, {:?}", spec.replicas)) }
    })
    .await;

    let contested = ("Reconciled", "False", "Contested");
    let (_, message) = until_condition(&env, "contested", contested).await;
    assert!(message.contains("kube-controller-manager"), "{message}");
    assert!(message.contains("spec.replicas"), "{message}");
    until_condition(&env, "contested", ("Degraded", "True", "Contested")).await;
    let times = put_back(&env) - before;
    assert!(times <= 5, "the operator fought {times} times");
    tokio::time::sleep(Duration::from_secs(15)).await; // in which the autoscaler looks three times
    assert_eq!(put_back(&env) - before, times, "the operator gives in for a minute");

    kubectl(&env, "delete hpa contested");
    let at_peace = until_ready(&env, "contested", 1).await;
    assert_eq!(at_peace.spec.size, 1, "nobody has changed what was asked for");
    apply(&env, &autoscaler(MEMCACHED, "contested", 2, 3));
    until_ready(&env, "contested", 2).await;
    nothing_was_forbidden(&env);
}
