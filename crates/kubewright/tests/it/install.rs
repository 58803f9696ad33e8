//! What `generate` prints is taken by the API server as it is, field by field.

use kubewright::generate::rbac::{self, Scope};
use kubewright::generate::{Installation, install};
use kubewright::k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kubewright::k8s_openapi::api::core::v1::{Namespace, Pod};
use kubewright::k8s_openapi::api::rbac::v1::RoleBinding;
use kubewright::kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kubewright::kube::discovery;
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::{Value, json};

use crate::everything::Everything;

fn installation(name: &str, scope: Scope) -> Installation {
    let operator = Operator::new(name)
        .controller::<Everything>()
        .environment("BOOK_IMAGE", "example.com/book:1");
    Installation { scope, ..operator.installation().unwrap() }
}

fn named(name: &str) -> Namespace {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

/// Applies a document as `kubectl apply --server-side` does, refusing what the schema does not have.
async fn apply(env: &Env, document: &Value, parameters: &PatchParams) {
    let mut object: DynamicObject = serde_json::from_value(document.clone()).unwrap();
    let kind = object.types.take().unwrap();
    let gvk = (&kind).try_into().unwrap();
    let (resource, _) = discovery::pinned_kind(&env.client(), &gvk).await.unwrap();
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(env.client(), &namespace, &resource),
        None => Api::all_with(env.client(), &resource),
    };
    let name = object.name_any();
    let applied = api.patch(&name, parameters, &Patch::Apply(document)).await;
    applied.unwrap_or_else(|error| panic!("{document}: {error}"));
}

#[kubewright_testenv::test(controllers)]
async fn everything_is_taken_strictly_and_the_operators_pod_is_admitted_as_restricted(env: Env) {
    let (_, unique) = env.namespace().rsplit_once('-').unwrap();
    let name = format!("op-{unique}");
    let documents = install::install(&installation(&name, Scope::Cluster));
    let kinds: Vec<_> = documents.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "Namespace",
            "CustomResourceDefinition",
            "ServiceAccount",
            "ClusterRole",
            "Role",
            "ClusterRoleBinding",
            "RoleBinding",
            "ClusterRole",
            "ClusterRole",
            "ClusterRole",
            "NetworkPolicy",
            "PodDisruptionBudget",
            "Deployment",
        ]
    );
    let strictly = PatchParams::apply("tests").validation_strict();
    for document in &documents {
        apply(&env, document, &strictly).await;
    }
    // A ReplicaSet that may not make its pods says so; one that may makes them.
    let pods: Api<Pod> = Api::namespaced(env.client(), &format!("{name}-system"));
    env.eventually("the operator's pod", async || {
        let list = pods.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        if list.items.is_empty() { Err("none yet".to_owned()) } else { Ok(()) }
    })
    .await;
}

#[kubewright_testenv::test]
async fn for_one_namespace_everything_is_taken_in_a_dry_run(env: Env) {
    let namespace = format!("{}-team", env.namespace());
    let namespaces: Api<Namespace> = Api::all(env.client());
    namespaces.create(&PostParams::default(), &named(&namespace)).await.unwrap();
    let scope = Scope::Namespaces(vec![namespace.clone()]);
    let installation = Installation { namespace, ..installation("dry-operator", scope) };
    let dry = PatchParams::apply("tests").validation_strict().dry_run();
    for document in install::install(&installation) {
        assert_ne!(document["kind"], "Namespace");
        apply(&env, &document, &dry).await;
    }
}

/// Whether `user` may do this in the test's namespace.
async fn may(env: &Env, user: &str, verb: &str, resource: &str) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = json!({
        "group": "test.kubewright.dev", "resource": resource, "subresource": subresource,
        "verb": verb, "namespace": env.namespace(),
    });
    let spec = json!({"user": user, "resourceAttributes": attributes});
    let review: SubjectAccessReview = serde_json::from_value(json!({"spec": spec})).unwrap();
    let answer = Api::all(env.client()).create(&PostParams::default(), &review).await;
    answer.unwrap().status.is_some_and(|status| status.allowed)
}

#[kubewright_testenv::test(controllers)]
async fn who_may_edit_or_view_a_namespace_may_do_so_with_its_books(env: Env) {
    let operator = installation("aggregated-operator", Scope::Cluster);
    let strictly = PatchParams::apply("tests").validation_strict().force();
    for role in rbac::people(&operator.operator, &operator.definitions) {
        apply(&env, &json!(role), &strictly).await;
    }
    for role in ["edit", "view"] {
        let binding = json!({
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": format!("may-{role}")}],
        });
        env.create::<RoleBinding>(serde_json::from_value(binding).unwrap()).await;
    }
    env.eventually("the roles are aggregated", async || {
        let can = may(&env, "may-edit", "create", "books").await
            && may(&env, "may-view", "list", "books").await;
        can.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
    assert!(may(&env, "may-view", "get", "books/status").await);
    assert!(!may(&env, "may-view", "delete", "books").await);
    assert!(!may(&env, "may-edit", "deletecollection", "books").await);
}
