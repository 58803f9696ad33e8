//! The generated role is what the operator needs: with it nothing is refused, and nothing in it is left over.

use std::collections::BTreeSet;

use kubewright::generate::rbac::Scope;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::coordination::v1::Lease;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::k8s_openapi::api::networking::v1::IngressClass;
use kubewright::k8s_openapi::api::rbac::v1::{PolicyRule, Role};
use kubewright::kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kubewright::kube::{Api, CustomResourceExt as _};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, book, deployment, map};
use crate::everything::{self, NAME, account, class, class_name};
use crate::gadgets::{Gadget, gadget};
use crate::running;
use crate::seen;
use crate::world::reconciled;

/// Rules that no run uses, and why they are there.
const UNUSED: [&str; 2] = [
    // Only a finalizer that changes under our hands is looked at before it is taken off.
    "get books.test.kubewright.dev",
    // Clusters that enforce permissions on `blockOwnerDeletion` ask for it; no request does.
    "update books/finalizers.test.kubewright.dev",
];

#[test]
fn the_rules_follow_from_the_handles_merged_and_sorted() {
    let access = everything::operator().access();
    let all = ["create", "delete", "get", "list", "patch", "watch"];
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": all},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments"],
         "verbs": ["create", "get", "list", "patch", "watch"]},
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": ["gadgets.kubewright.dev"], "resources": ["gadgets"], "verbs": all},
        {"apiGroups": ["test.kubewright.dev"], "resources": ["books"],
         "verbs": ["get", "list", "patch", "watch"]},
        {"apiGroups": ["test.kubewright.dev"], "resources": ["books/finalizers"], "verbs": ["update"]},
        {"apiGroups": ["test.kubewright.dev"], "resources": ["books/status"], "verbs": ["patch"]},
    ]);
    assert_eq!(json!(access.rules), rules);
    let cluster_rules = json!([
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
         "verbs": ["list", "watch"]},
        {"apiGroups": ["networking.k8s.io"], "resources": ["ingressclasses"], "verbs": all},
    ]);
    assert_eq!(json!(access.cluster_rules), cluster_rules);
    let own_namespace = json!([
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments"],
         "resourceNames": [format!("{NAME}-controller-manager")], "verbs": ["get"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": [NAME],
         "verbs": ["get", "update", "watch"]},
    ]);
    assert_eq!(json!(access.own_namespace), own_namespace);
}

/// Each permission of the rules as `verb resource.group`.
fn granted(rules: &[PolicyRule]) -> BTreeSet<String> {
    let mut granted = BTreeSet::new();
    for rule in rules {
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                granted.extend(rule.verbs.iter().map(|verb| permission(verb, resource, group)));
            }
        }
    }
    granted
}

fn permission(verb: &str, resource: &str, group: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{verb} {resource}{dot}{group}")
}

/// Each permission that was used.
fn used(env: &Env) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for record in seen::asked(env, &account(env)) {
        assert_ne!(record.code, 403, "{record:?}");
        let slash = if record.subresource.is_empty() { "" } else { "/" };
        let resource = format!("{}{slash}{}", record.resource, record.subresource);
        used.insert(permission(&record.verb, &resource, &record.group));
        if record.verb == "patch" && record.code == 201 {
            used.insert(permission("create", &resource, &record.group)); // an apply needs both
        }
    }
    used
}

/// Strangers with the names that the children of `book` would have.
async fn take_names(env: &Env, book: &Book) {
    env.create(map(book, 0)).await;
    env.create(deployment(book)).await;
    env.create(gadget(book)).await;
    let classes: Api<IngressClass> = Api::all(env.client());
    classes.create(&PostParams::default(), &class(book)).await.unwrap();
}

async fn free_names(env: &Env, book: &Book) {
    env.api::<ConfigMap>().delete(&book.name_any(), &DeleteParams::default()).await.unwrap();
    env.api::<Deployment>().delete(&book.name_any(), &DeleteParams::default()).await.unwrap();
    env.api::<Gadget>().delete(&book.name_any(), &DeleteParams::default()).await.unwrap();
    let classes: Api<IngressClass> = Api::all(env.client());
    classes.delete(&class_name(book), &DeleteParams::default()).await.unwrap();
}

/// Waits until the operator has asked for something of its lease.
async fn asked_of_lease(env: &Env, verb: &str) {
    env.eventually(&format!("a {verb} of the lease"), async || {
        let asked = seen::asked(env, &account(env));
        let found = asked.iter().any(|it| it.resource == "leases" && it.verb == verb);
        found.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
}

/// Lets the operator do everything that it can do.
async fn exercise(env: &Env) {
    asked_of_lease(env, "watch").await;
    let free = Patch::Merge(json!({"spec": {"holderIdentity": ""}}));
    env.api::<Lease>().patch(NAME, &PatchParams::default(), &free).await.unwrap();
    asked_of_lease(env, "update").await;
    env.api::<Lease>().delete(NAME, &DeleteParams::default()).await.unwrap();
    asked_of_lease(env, "create").await;
    let operator_book = env.create(book("a")).await;
    reconciled(env, "a", "True", "Reconciled").await;
    env.install(&[Gadget::crd()]).await;
    env.eventually_owned::<Gadget>(&operator_book).await;
    seen::edit(env, "a", |book| book.spec.text = "twice".into()).await;
    reconciled(env, "a", "True", "Reconciled").await;

    let mut taken = book("taken");
    taken.metadata.namespace = Some(env.namespace().to_owned());
    take_names(env, &taken).await;
    env.create(taken.clone()).await;
    reconciled(env, "taken", "False", "NameTaken").await;
    free_names(env, &taken).await;
    seen::edit(env, "taken", |book| book.spec.text = "free".into()).await;
    reconciled(env, "taken", "True", "Reconciled").await;

    seen::edit(env, "a", |book| book.spec.pages = 0).await;
    reconciled(env, "a", "True", "Reconciled").await;
    env.api::<Deployment>().get("a").await.unwrap(); // kept, though no pass applied it
    for name in ["a", "taken"] {
        let book = env.api::<Book>().get(name).await.unwrap();
        env.delete(&book).await;
        env.eventually(&format!("{name} is gone"), async || {
            match env.api::<Book>().get_opt(name).await {
                Ok(None) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }
    let classes: Api<IngressClass> = Api::all(env.client());
    assert!(
        classes.list(&ListParams::default()).await.unwrap().items.is_empty(),
        "none is left behind"
    );
}

async fn converges_with_its_role_only(env: Env, scope: Scope) {
    let lease = json!({
        "metadata": {"name": NAME},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600},
    });
    env.create::<Lease>(serde_json::from_value(lease).unwrap()).await;
    let operator = everything::start(&env, &scope).await;
    exercise(&env).await;
    operator.stop().await; // what was counted of events is written at the end
    let access = everything::operator().access();
    let rules = [access.rules, access.cluster_rules, access.own_namespace].concat();
    let (granted, used) = (granted(&rules), used(&env));
    let unused: BTreeSet<_> = granted.difference(&used).map(String::as_str).collect();
    assert_eq!(unused, UNUSED.into_iter().collect());
    let beyond: BTreeSet<_> = used.difference(&granted).collect();
    assert!(beyond.is_empty(), "{beyond:?}");
}

#[kubewright_testenv::test(own)]
async fn with_its_cluster_role_nothing_is_refused_and_no_rule_is_left_over(env: Env) {
    converges_with_its_role_only(env, Scope::Cluster).await;
}

#[kubewright_testenv::test(own)]
async fn with_roles_in_its_namespaces_nothing_is_refused_and_no_rule_is_left_over(env: Env) {
    let scope = Scope::Namespaces(vec![env.namespace().to_owned()]);
    converges_with_its_role_only(env, scope).await;
}

#[kubewright_testenv::test(own)]
async fn a_verb_that_is_taken_away_is_named_and_its_return_heals(env: Env) {
    env.install(&[Gadget::crd()]).await;
    let scope = Scope::Namespaces(vec![env.namespace().to_owned()]);
    let operator = everything::start(&env, &scope).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let roles = env.api::<Role>();
    let name = format!("{NAME}-manager-role");
    let role = roles.get(&name).await.unwrap();
    let mut less = role.clone();
    for rule in less.rules.iter_mut().flatten() {
        if rule.resources.iter().flatten().any(|resource| resource == "deployments") {
            rule.verbs.retain(|verb| verb != "patch");
        }
    }
    less = roles.replace(&name, &PostParams::default(), &less).await.unwrap();
    // The API server takes a moment to know of the change.
    let message = env.eventually("it is refused", async || {
        let text = format!("at {:?}", std::time::Instant::now());
        seen::edit(&env, "a", |book| book.spec.text.clone_from(&text)).await;
        let refused = reconciled(&env, "a", "False", "Forbidden");
        let refused = tokio::time::timeout(std::time::Duration::from_secs(2), refused).await;
        refused.map_err(|error| error.to_string())
    });
    let message = message.await;
    assert!(message.contains("may not patch deployments.apps"), "{message}");
    assert!(message.contains(&name), "{message}");
    less.rules = role.rules;
    roles.replace(&name, &PostParams::default(), &less).await.unwrap();
    reconciled(&env, "a", "True", "Reconciled").await;
    running::settled(|| seen::asked(&env, &account(&env)).len()).await;
    operator.stop().await;
}
