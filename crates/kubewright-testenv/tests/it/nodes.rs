//! Nodes with real pods: what a person or an operator does with them.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kubewright_testenv::Env;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::fixtures::{
    OLDER_MEMCACHED, kubectl, memcached, ready, typed, until_gone, until_restarted,
};
use crate::services::set_and_get;

#[kubewright_testenv::test(nodes = 2)]
async fn logs_and_exec_work(env: Env) {
    env.create(memcached("cache", json!({ "command": ["memcached", "-vv"] }))).await;
    ready(&env, "cache").await;
    env.eventually("the log of memcached", async || {
        let log = kubectl(&env, &["logs", "cache"]).await?;
        if log.contains("slab class") { Ok(()) } else { Err(log) }
    })
    .await;
    assert_eq!(
        kubectl(&env, &["exec", "cache", "--", "sh", "-c", "id -u"]).await.unwrap(),
        "1001\n"
    );
}

#[kubewright_testenv::test(nodes = 2)]
async fn port_forward_reaches_the_pod(env: Env) {
    env.create(memcached("cache", json!({}))).await;
    ready(&env, "cache").await;
    let mut command = env.kubectl();
    command.args(["port-forward", "pod/cache", ":11211"]);
    let mut command = tokio::process::Command::from(command);
    let mut forward =
        command.stdout(std::process::Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    // "Forwarding from 127.0.0.1:40123 -> 11211"; kubectl ends if nobody reads what it prints next.
    let mut output = BufReader::new(forward.stdout.take().unwrap()).lines();
    let line = output.next_line().await.unwrap().unwrap();
    let address = line.split_whitespace().nth(2).unwrap();
    assert_eq!(set_and_get(address, "forwarded").await.unwrap(), "forwarded");
}

#[kubewright_testenv::test(nodes = 2)]
async fn a_pod_whose_probe_fails_is_restarted(env: Env) {
    let probe = json!({ "exec": { "command": ["test", "!", "-e", "/tmp/broken"] }, "periodSeconds": 1, "failureThreshold": 1 });
    env.create(memcached("cache", json!({ "livenessProbe": probe }))).await;
    ready(&env, "cache").await;
    kubectl(&env, &["exec", "cache", "--", "sh", "-c", "echo >/tmp/broken"]).await.unwrap();
    until_restarted(&env, 1).await;
}

#[kubewright_testenv::test(nodes = 2)]
async fn a_pre_stop_hook_runs_before_the_end(env: Env) {
    let hook = json!({ "exec": { "command": ["sleep", "3"] } });
    env.create(memcached("cache", json!({ "lifecycle": { "preStop": hook } }))).await;
    let pod = ready(&env, "cache").await;
    let started = std::time::Instant::now();
    env.delete(&pod).await;
    until_gone(&env, "cache").await;
    assert!(
        started.elapsed().as_secs() >= 3,
        "the hook was not waited for: {:?}",
        started.elapsed()
    );
}

#[kubewright_testenv::test(nodes = 2)]
async fn an_image_is_changed_in_place(env: Env) {
    env.create(memcached("cache", json!({}))).await;
    let before = ready(&env, "cache").await;
    let patch =
        json!({ "spec": { "containers": [{ "name": "memcached", "image": OLDER_MEMCACHED }] } });
    env.api::<Pod>()
        .patch("cache", &PatchParams::default(), &Patch::Strategic(patch))
        .await
        .unwrap();
    until_restarted(&env, 1).await;
    let after = ready(&env, "cache").await;
    assert_eq!(before.metadata.uid, after.metadata.uid);
    assert_eq!(before.status.unwrap().pod_ip, after.status.unwrap().pod_ip);
    assert!(
        kubectl(&env, &["exec", "cache", "--", "memcached", "-V"])
            .await
            .unwrap()
            .contains("1.6.38")
    );
}

#[kubewright_testenv::test(nodes = 2)]
async fn a_pod_is_resized_without_a_restart(env: Env) {
    env.create(memcached("cache", json!({}))).await;
    ready(&env, "cache").await;
    let limits = json!({ "limits": { "memory": "96Mi" } });
    let patch = json!({ "spec": { "containers": [{ "name": "memcached", "resources": limits }] } });
    let parameters = PatchParams::default();
    env.api::<Pod>()
        .patch_subresource("resize", "cache", &parameters, &Patch::Strategic(patch))
        .await
        .unwrap();
    env.eventually("the new limit is in force", async || {
        let pod = env.api::<Pod>().get("cache").await.map_err(|error| error.to_string())?;
        let status =
            pod.status.and_then(|status| status.container_statuses).unwrap_or_default().remove(0);
        let limit = status
            .resources
            .and_then(|resources| resources.limits)
            .unwrap_or_default()
            .remove("memory");
        let is_new = limit.as_ref().is_some_and(|limit| limit.0 == "96Mi");
        if is_new && status.restart_count == 0 {
            Ok(())
        } else {
            Err(format!("{limit:?}, {} restarts", status.restart_count))
        }
    })
    .await;
}

#[kubewright_testenv::test(nodes = 2)]
async fn anti_affinity_puts_pods_on_different_nodes(env: Env) {
    let mut nodes = Vec::new();
    for name in ["left", "right"] {
        let mut pod = serde_json::to_value(memcached(name, json!({}))).unwrap();
        pod["metadata"]["labels"]["group"] = json!("apart");
        let term = json!({ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "group": "apart" } } });
        pod["spec"]["affinity"] = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [term] } });
        env.create(typed::<Pod>(pod)).await;
        nodes.push(ready(&env, name).await.spec.unwrap().node_name.unwrap());
    }
    assert_ne!(nodes[0], nodes[1]);
}
