//! Objects with as many different fields as the server takes.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

fn pod() -> Value {
    json!({"metadata": {"labels": {"app": "d", "app.kubernetes.io/name": "x"}, "annotations": {"p": "q"}}, "spec": {
        "serviceAccountName": "default", "terminationGracePeriodSeconds": 40, "imagePullSecrets": [{"name": "pull"}],
        "hostAliases": [{"ip": "10.1.1.1", "hostnames": ["alias"]}], "nodeSelector": {"disk": "ssd"},
        "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": {
            "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "d"}}}}]}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": "d"}}}],
        "initContainers": [{"name": "i", "image": "i:1", "command": ["a", "b"]}],
        "containers": [main_container(), {"name": "x", "image": "exp:1", "args": [], "env": [], "resources": {}}],
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "volumes": [{"name": "t", "emptyDir": {}}, {"name": "unused", "emptyDir": {"sizeLimit": "1024Mi"}},
            {"name": "c", "configMap": {"name": "c", "defaultMode": 416, "items": [{"key": "k", "path": "p"}]}},
            {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "tok"}}, {"secret": {"name": "s"}}]}}]}})
}

fn main_container() -> Value {
    json!({"name": "m", "image": "memcached:1.6", "imagePullPolicy": "IfNotPresent", "args": ["-m", "64", "-c", "1024"],
        "ports": [{"containerPort": 11211, "name": "mc"}, {"containerPort": 53, "protocol": "UDP", "name": "u"},
            {"containerPort": 53, "name": "t"}, {"containerPort": 9150}],
        "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"memory": "2048Mi"}},
        "env": [{"name": "A", "value": "1"}, {"name": "E", "value": ""}, {"name": "O"},
            {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "envFrom": [{"configMapRef": {"name": "c"}}],
        "readinessProbe": {"tcpSocket": {"port": "mc"}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "h", "value": "v"}]}},
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
        "volumeMounts": [{"name": "t", "mountPath": "/t"}, {"name": "p", "mountPath": "/p", "readOnly": true}],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}})
}

fn owned(spec: &Value) -> Value {
    json!({"metadata": {"labels": {"l": "v"}, "annotations": {"a": "b"}, "finalizers": ["test.dev/ours"],
        "ownerReferences": [{"apiVersion": "demo.dev/v1", "kind": "Guestbook", "name": "g",
            "uid": "5a5a5a5a-1111-2222-3333-444444444444", "controller": true, "blockOwnerDeletion": true}]},
        "spec": spec})
}

pub(super) fn deployment() -> Value {
    owned(&json!({"replicas": 2, "minReadySeconds": 3, "selector": {"matchLabels": {"app": "d"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}, "template": pod()}))
}

pub(super) fn stateful_set() -> Value {
    owned(
        &json!({"replicas": 2, "serviceName": "s", "selector": {"matchLabels": {"app": "d"}}, "template": pod(),
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1024Mi"}}}}]}),
    )
}

pub(super) fn cron_job() -> Value {
    let mut pod = pod();
    pod["spec"]["restartPolicy"] = "Never".into();
    owned(&json!({"schedule": "0 0 1 1 *", "concurrencyPolicy": "Forbid", "suspend": true,
        "jobTemplate": {"metadata": {"labels": {"j": "k"}}, "spec": {"backoffLimit": 2, "template": pod}}}))
}

pub(super) fn service() -> Value {
    owned(
        &json!({"selector": {"app": "d"}, "sessionAffinity": "None", "publishNotReadyAddresses": true, "type": "ClusterIP",
        "ports": [{"port": 11211, "name": "mc"}, {"port": 53, "name": "u", "protocol": "UDP", "targetPort": "u"},
            {"port": 53, "name": "t"}]}),
    )
}

pub(super) fn headless_service() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": {"clusterIP": "None", "selector": {"app": "d"}, "ports": [{"port": 11211}]}})
}

/// Kind, object, and how many changes of it the server accepts at least.
pub(super) fn small() -> Vec<(&'static str, Value, usize)> {
    vec![
        (
            "v1 ConfigMap configmaps",
            json!({"metadata": {"labels": {}}, "data": {"a": "1", "b.conf": "x\ny", "empty": ""},
            "binaryData": {"z": "AAEC"}}),
            10,
        ),
        (
            "v1 Secret secrets",
            json!({"type": "Opaque", "data": {"a": "b25l"}, "stringData": {"s": "t"}}),
            2,
        ),
        (
            "v1 ServiceAccount serviceaccounts",
            json!({"automountServiceAccountToken": false, "secrets": [{"name": "a"}, {"name": "b"}],
            "imagePullSecrets": [{"name": "p"}]}),
            6,
        ),
        (
            "policy/v1 PodDisruptionBudget poddisruptionbudgets",
            json!({"spec": {"maxUnavailable": "25%",
            "selector": {"matchLabels": {"app": "d"}}, "unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
            4,
        ),
        (
            "networking.k8s.io/v1 NetworkPolicy networkpolicies",
            json!({"spec": {"podSelector": {"matchLabels": {"app": "d"}},
            "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {"matchLabels": {"c": "d"}}},
            {"namespaceSelector": {}}], "ports": [{"port": 11211, "protocol": "TCP"}]}]}}),
            8,
        ),
    ]
}

/// More of them.
pub(super) fn more() -> Vec<(&'static str, Value, usize)> {
    vec![
        (
            "rbac.authorization.k8s.io/v1 Role roles",
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["a"], "verbs": ["get"]}]}),
            8,
        ),
        (
            "rbac.authorization.k8s.io/v1 RoleBinding rolebindings",
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io",
            "kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}]}),
            3,
        ),
        (
            "autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers",
            json!({"spec": {"minReplicas": 1, "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "metrics": [{"type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}}),
            6,
        ),
        (
            "batch/v1 Job jobs",
            json!({"spec": {"suspend": true, "parallelism": 2, "backoffLimit": 3, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "m", "image": "m:1", "env": [{"name": "A", "value": "1"}]}]}}}}),
            3,
        ),
        (
            "coordination.k8s.io/v1 Lease leases",
            json!({"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
            "renewTime": "2026-01-01T00:00:00.000000Z"}}),
            4,
        ),
    ]
}

pub(super) fn thing() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": {"size": 3, "untouched": {},
        "members": [{"name": "a", "zone": "x", "ports": [{"port": 1}, {"port": 2, "protocol": "UDP"}]}, {"name": "b"}],
        "single": [{"name": "only", "zone": "y"}],
        "zones": ["x", "y"], "list": [{"name": "atomic", "zone": "z"}], "free": {"any": [1, {"b": true}], "deep": {"er": "x"}}}})
}

pub(super) fn definition() -> CustomResourceDefinition {
    let text = json!({"type": "string"});
    let port = json!({"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"},
        "protocol": {"type": "string", "default": "TCP"}}});
    let ports = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": port});
    let member = json!({"type": "object", "required": ["name"], "properties": {"name": text, "zone": {"type": "string", "default": "d"},
        "ports": ports}});
    let members = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": member});
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}, "members": members, "single": members,
        "untouched": {"type": "object", "properties": {"filled": {"type": "string", "default": "in"}}},
        "zones": {"type": "array", "x-kubernetes-list-type": "set", "items": text}, "list": {"type": "array", "items": member},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    serde_json::from_value(json!({"metadata": {"name": "things.quiet.kubewright.dev"}, "spec": {"group": "quiet.kubewright.dev",
        "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [{"name": "v1", "served": true,
        "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})).unwrap()
}
