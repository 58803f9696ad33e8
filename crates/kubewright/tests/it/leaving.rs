//! An operator that is removed for good holds nobody up: its finalizers come off by themselves, with the
//! permissions that its roles give it.

use std::time::{Duration, Instant};

use kubewright::generate::rbac::Scope;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::Namespace;
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, ListParams, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, book};
use crate::everything::{self, NAME};
use crate::running::Running;
use crate::seen;
use crate::world::reconciled;

const BOOKS: usize = 20;

/// A namespace for the operator, beside the test's.
async fn home(env: &Env) -> String {
    let name = format!("{}-system", env.namespace());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.clone());
    let namespaces: Api<Namespace> = Api::all(env.client());
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    name
}

/// The operator's own Deployment, which nothing runs.
async fn deploy(env: &Env, home: &str) -> Api<Deployment> {
    let labels = json!({"app": NAME});
    let deployment = serde_json::from_value(json!({
        "metadata": {"name": format!("{NAME}-controller-manager")},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "manager", "image": "manager:1"}]},
        }},
    }));
    let api: Api<Deployment> = Api::namespaced(env.client(), home);
    api.create(&PostParams::default(), &deployment.unwrap()).await.unwrap();
    api
}

/// Runs the operator in `home`, with books that have its finalizer.
async fn with_books(env: &Env, scope: &Scope, home: &str) -> Running {
    let operator = everything::start_in(env, scope, home).await;
    for number in 0..BOOKS {
        env.create(book(&format!("a-{number}"))).await;
    }
    for number in 0..BOOKS {
        reconciled(env, &format!("a-{number}"), "True", "Reconciled").await;
    }
    assert_eq!(held(env).await, BOOKS);
    operator
}

/// How many books have a finalizer.
async fn held(env: &Env) -> usize {
    let books = env.api::<Book>().list(&ListParams::default()).await.unwrap();
    books.items.iter().filter(|book| !book.finalizers().is_empty()).count()
}

async fn until_free(env: &Env) {
    env.eventually("no book has a finalizer", async || match held(env).await {
        0 => Ok(()),
        count => Err(format!("{count} have one")),
    })
    .await;
}

/// Nothing was refused.
fn assert_permitted(env: &Env, home: &str) {
    let user = format!("system:serviceaccount:{home}:{NAME}-controller-manager");
    let records = seen::asked(env, &user);
    assert!(records.iter().any(|record| record.resource == "namespaces" && record.verb == "watch"));
    let refused: Vec<_> =
        records.iter().filter(|record| matches!(record.code, 401 | 403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[kubewright_testenv::test(own)]
async fn finalizers_stay_when_the_operator_stops_and_its_deployment_does_not_go(env: Env) {
    let home = home(&env).await;
    deploy(&env, &home).await;
    let operator = with_books(&env, &Scope::Cluster, &home).await;
    operator.stop().await;
    assert_eq!(held(&env).await, BOOKS);
    assert_permitted(&env, &home);
}

#[kubewright_testenv::test(own)]
async fn finalizers_come_off_when_it_stops_and_its_deployment_is_gone(env: Env) {
    let home = home(&env).await;
    let deployments = deploy(&env, &home).await;
    let operator = with_books(&env, &Scope::Cluster, &home).await;
    let name = format!("{NAME}-controller-manager");
    deployments.delete(&name, &DeleteParams::background()).await.unwrap();
    let begun = Instant::now();
    operator.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(held(&env).await, 0);
    assert_permitted(&env, &home);
}

#[kubewright_testenv::test(own)]
async fn finalizers_come_off_when_it_stops_and_its_deployment_is_going(env: Env) {
    let home = home(&env).await;
    let deployments = deploy(&env, &home).await;
    let scope = Scope::Namespaces(vec![env.namespace().to_owned()]);
    let operator = with_books(&env, &scope, &home).await;
    // Nobody ends a foreground deletion without the built-in controllers.
    let name = format!("{NAME}-controller-manager");
    deployments.delete(&name, &DeleteParams::foreground()).await.unwrap();
    assert!(deployments.get(&name).await.unwrap().metadata.deletion_timestamp.is_some());
    operator.stop().await;
    assert_eq!(held(&env).await, 0);
    assert_permitted(&env, &home);
}

#[kubewright_testenv::test(controllers, own)]
async fn finalizers_come_off_by_themselves_when_its_namespace_goes(env: Env) {
    let home = home(&env).await;
    deploy(&env, &home).await;
    let operator = with_books(&env, &Scope::Cluster, &home).await;
    let namespaces: Api<Namespace> = Api::all(env.client());
    namespaces.delete(&home, &DeleteParams::default()).await.unwrap();
    let begun = Instant::now();
    until_free(&env).await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_permitted(&env, &home);
    // None is put on an object that comes now.
    env.create(book("late")).await;
    reconciled(&env, "late", "True", "Reconciled").await;
    assert_eq!(held(&env).await, 0);
    env.eventually("the namespace is gone", async || {
        match namespaces.get_opt(&home).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
    // Its account is gone with it: nothing can be asked any more, and nothing hangs.
    let begun = Instant::now();
    let _ = operator.told_to_stop().await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[kubewright_testenv::test(controllers, own)]
async fn a_namespace_goes_with_the_operator_and_its_books_in_it(env: Env) {
    let scope = Scope::Namespaces(vec![env.namespace().to_owned()]);
    let operator = with_books(&env, &scope, env.namespace()).await;
    let namespaces: Api<Namespace> = Api::all(env.client());
    namespaces.delete(env.namespace(), &DeleteParams::default()).await.unwrap();
    env.eventually("the namespace is gone", async || {
        match namespaces.get_opt(env.namespace()).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
    let _ = operator.told_to_stop().await;
}
