//! metrics-server in the cluster of a test, as its project installs it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use kubewright::cluster;
use kubewright_testenv::binaries::{Binaries, Binary, METRICS_SERVER_VERSION};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::images::{Images, metrics_server_image};
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{Env, KubernetesVersion};
use serde_json::{Value, json};

const NAME: &str = "metrics-server";
const PLACE: &str = "kube-system";
const ROLES: &str = "rbac.authorization.k8s.io";

/// The image as a tar. Building it takes minutes the first time, and no time afterwards.
pub fn image() -> anyhow::Result<PathBuf> {
    let cache = Cache::from_environment()?;
    let version = KubernetesVersion::from_environment()?;
    let binary =
        Binaries::new(cache.clone(), version, Progress::Shown)?.find(Binary::MetricsServer)?;
    Ok(Images::new(cache, Progress::Shown).metrics_server(&binary, METRICS_SERVER_VERSION)?)
}

/// Installs it, and waits until it runs. Then the API of metrics is about to answer.
pub async fn install(env: &Env) -> anyhow::Result<()> {
    let tar = tokio::task::spawn_blocking(image).await??;
    for node in env.environment().nodes() {
        node.import_image(&tar).await.context("a node does not take the image")?;
    }
    cluster::apply(&env.client(), "e2e", &objects(), &mut |_| {}).await?;
    env.environment().until_deployed(PLACE, NAME, Duration::from_mins(2)).await?;
    Ok(())
}

fn objects() -> Vec<Value> {
    vec![
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": placed(NAME)}),
        role(),
        binding(
            "ClusterRoleBinding",
            "system:metrics-server",
            "ClusterRole",
            "system:metrics-server",
        ),
        binding(
            "ClusterRoleBinding",
            "metrics-server:delegator",
            "ClusterRole",
            "system:auth-delegator",
        ),
        binding(
            "RoleBinding",
            "metrics-server-reader",
            "Role",
            "extension-apiserver-authentication-reader",
        ),
        service(),
        deployment(),
        api(),
    ]
}

fn placed(name: &str) -> Value {
    json!({"name": name, "namespace": PLACE, "labels": {"k8s-app": NAME}})
}

fn role() -> Value {
    json!({
        "apiVersion": format!("{ROLES}/v1"), "kind": "ClusterRole",
        "metadata": {"name": "system:metrics-server"},
        "rules": [
            {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]},
        ],
    })
}

fn binding(kind: &str, name: &str, role_kind: &str, role: &str) -> Value {
    let metadata = if kind == "RoleBinding" { placed(name) } else { json!({"name": name}) };
    json!({
        "apiVersion": format!("{ROLES}/v1"), "kind": kind, "metadata": metadata,
        "roleRef": {"apiGroup": ROLES, "kind": role_kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": PLACE}],
    })
}

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": placed(NAME),
        "spec": {
            "selector": {"k8s-app": NAME},
            "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
        },
    })
}

fn deployment() -> Value {
    let ready = json!({"path": "/readyz", "port": "https", "scheme": "HTTPS"});
    let container = json!({
        "name": NAME,
        "image": metrics_server_image(METRICS_SERVER_VERSION),
        "imagePullPolicy": "Never",
        "args": [
            "--cert-dir=/tmp", "--secure-port=10250", "--kubelet-preferred-address-types=InternalIP",
            "--kubelet-use-node-status-port",
            "--kubelet-insecure-tls", // a node of a test has made its certificate itself
            // The shortest that it takes, and that is longer than its patience with a node has to be.
            "--metric-resolution=10s", "--kubelet-request-timeout=5s",
        ],
        "ports": [{"name": "https", "containerPort": 10250}],
        "readinessProbe": {"httpGet": ready, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "20m", "memory": "40Mi"}},
        "securityContext": {
            "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
            "runAsNonRoot": true,
        },
        "volumeMounts": [{"name": "certificates", "mountPath": "/tmp"}],
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": placed(NAME),
        "spec": {
            "selector": {"matchLabels": {"k8s-app": NAME}},
            "template": {
                "metadata": {"labels": {"k8s-app": NAME}},
                "spec": {
                    "serviceAccountName": NAME,
                    "containers": [container],
                    "volumes": [{"name": "certificates", "emptyDir": {}}],
                },
            },
        },
    })
}

fn api() -> Value {
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1beta1.metrics.k8s.io"},
        "spec": {
            "group": "metrics.k8s.io", "version": "v1beta1", "insecureSkipTLSVerify": true,
            "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": NAME, "namespace": PLACE},
        },
    })
}
