//! Cluster DNS: CoreDNS as a Deployment, for the cluster's own zone and nothing else. Pure: the
//! objects.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

const COREFILE: &str = "\
cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
}
";

/// The objects with the paths that they are posted to.
pub(crate) fn objects(address: Ipv4Addr, image: &str) -> [(&'static str, Value); 6] {
    [
        ("/api/v1/namespaces/kube-system/serviceaccounts", service_account()),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", role()),
        ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding()),
        ("/api/v1/namespaces/kube-system/configmaps", configuration()),
        ("/api/v1/namespaces/kube-system/services", service(address)),
        ("/apis/apps/v1/namespaces/kube-system/deployments", deployment(image)),
    ]
}

fn service_account() -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "coredns" } })
}

fn role() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": "system:coredns" },
        "rules": [
            { "apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"] },
            { "apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"] },
        ],
    })
}

fn binding() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": { "name": "system:coredns" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns" },
        "subjects": [{ "kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system" }],
    })
}

fn configuration() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "coredns" },
        "data": { "Corefile": COREFILE },
    })
}

fn service(address: Ipv4Addr) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "kube-dns", "labels": { "k8s-app": "kube-dns" } },
        "spec": {
            "clusterIP": address,
            "selector": { "k8s-app": "kube-dns" },
            "ports": [
                { "name": "dns", "port": 53, "protocol": "UDP" },
                { "name": "dns-tcp", "port": 53, "protocol": "TCP" },
            ],
        },
    })
}

fn deployment(image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "coredns", "labels": { "k8s-app": "kube-dns" } },
        "spec": {
            "selector": { "matchLabels": { "k8s-app": "kube-dns" } },
            "template": {
                "metadata": { "labels": { "k8s-app": "kube-dns" } },
                "spec": {
                    "serviceAccountName": "coredns",
                    "dnsPolicy": "Default",
                    "priorityClassName": "system-cluster-critical",
                    "tolerations": [{ "operator": "Exists" }],
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{
                        "name": "coredns",
                        "image": image,
                        "imagePullPolicy": "IfNotPresent",
                        "args": ["-conf", "/etc/coredns/Corefile"],
                        "resources": { "requests": { "cpu": "20m", "memory": "40Mi" } },
                        "readinessProbe": { "httpGet": { "path": "/ready", "port": 8181 }, "periodSeconds": 1 },
                        "livenessProbe": { "httpGet": { "path": "/health", "port": 8080 } },
                        "volumeMounts": [{ "name": "configuration", "mountPath": "/etc/coredns" }],
                    }],
                    "volumes": [{ "name": "configuration", "configMap": { "name": "coredns" } }],
                },
            },
        },
    })
}
