//! What the operator and its pods could be used for by somebody who has taken them over.

use std::sync::Arc;

use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Api;
use kube::api::PostParams;
use kubewright_testenv::Env;
use serde_json::{Value, json};

use crate::stage::{Nothing, Stage};

/// Verb, group, resource and subresource of what would open other doors.
const DOORS: [(&str, &str, &str, &str); 17] = [
    ("get", "", "secrets", ""),
    ("list", "", "secrets", ""),
    ("watch", "", "secrets", ""),
    ("create", "", "pods", ""),
    ("create", "", "pods", "exec"),
    ("create", "", "pods", "attach"),
    ("create", "", "serviceaccounts", "token"),
    ("impersonate", "", "users", ""),
    ("impersonate", "", "serviceaccounts", ""),
    ("patch", "", "nodes", ""),
    ("patch", "", "namespaces", ""),
    ("bind", "rbac.authorization.k8s.io", "clusterroles", ""),
    ("escalate", "rbac.authorization.k8s.io", "clusterroles", ""),
    ("create", "rbac.authorization.k8s.io", "rolebindings", ""),
    ("patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", ""),
    ("patch", "apiextensions.k8s.io", "customresourcedefinitions", ""),
    ("delete", "apps", "deployments", ""),
];

#[kubewright_testenv::test]
async fn x4_the_operators_token_opens_nothing_but_its_own_work(env: Env) {
    let stage = Stage::new(&env, Arc::new(Nothing), &[]).await;
    let reviews: Api<SubjectAccessReview> = Api::all(stage.world.client());
    let may = async |(verb, group, resource, subresource): (&str, &str, &str, &str)| {
        let review = json!({"metadata": {}, "spec": {"user": stage.world.account(),
            "groups": ["system:serviceaccounts", "system:authenticated"],
            "resourceAttributes": {"namespace": stage.namespace, "verb": verb, "group": group,
                "resource": resource, "subresource": subresource}}});
        let review = serde_json::from_value(review).unwrap();
        let answer = reviews.create(&PostParams::default(), &review).await.unwrap();
        answer.status.unwrap().allowed
    };
    assert!(may(("patch", "apps", "deployments", "")).await, "its own work is permitted");
    for door in DOORS {
        assert!(!may(door).await, "it may {door:?}");
    }
}

#[kubewright_testenv::test]
async fn i18_pods_of_a_cache_are_taken_where_only_restricted_ones_are(env: Env) {
    let stage = Stage::new(&env, Arc::new(Nothing), &[]).await;
    stage.create("a", 1).await;
    stage.settled().await;
    let deployment = stage.deployments().get("a").await.unwrap();
    let template = serde_json::to_value(deployment.spec.unwrap().template).unwrap();
    assert_eq!(template["spec"]["automountServiceAccountToken"], false);

    let strict = format!("{}-restricted", stage.namespace);
    let namespaces: Api<Namespace> = Api::all(stage.world.client());
    let namespace = json!({"metadata": {"name": strict,
        "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    let namespace = serde_json::from_value(namespace).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(stage.world.client(), &strict);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let pod = |template: &Value| {
        let (labels, spec) = (&template["metadata"]["labels"], &template["spec"]);
        let pod = json!({"metadata": {"name": "a", "labels": labels}, "spec": spec});
        serde_json::from_value::<Pod>(pod).unwrap()
    };
    pods.create(&dry, &pod(&template)).await.unwrap();
    let mut loose = template.clone();
    loose["spec"]["hostNetwork"] = json!(true);
    let refusal = pods.create(&dry, &pod(&loose)).await.unwrap_err().to_string();
    assert!(refusal.contains("violates PodSecurity"), "{refusal}");
}
