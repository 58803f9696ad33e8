//! What is put on a cluster and taken off again, whether an operator runs or not.

use kubewright::cluster::{self, ClusterError, Step};
use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kubewright::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::kube::Api;
use kubewright::kube::api::{ListParams, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::{Env, Identity};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::books::{Book, book};
use crate::finalizer::{Endings, OURS, THEIRS};
use crate::leader::example;
use crate::running;
use crate::world::{converged, merge};

const NAME: &str = "book-operator";
const DEFINITION: &str = "customresourcedefinition.apiextensions.k8s.io/books.test.kubewright.dev";

fn definitions() -> Vec<CustomResourceDefinition> {
    Operator::new(NAME).controller::<Endings>().definitions()
}

fn documents() -> Vec<Value> {
    definitions().iter().map(|definition| serde_json::to_value(definition).unwrap()).collect()
}

async fn applied(env: &Env, documents: &[Value]) -> Result<Vec<String>, ClusterError> {
    let mut told = Vec::new();
    let mut tell = |step: Step| told.push(step.to_string());
    cluster::apply(&env.client(), "installer", documents, &mut tell).await?;
    Ok(told)
}

async fn uninstalled(env: &Env) -> Result<Vec<String>, ClusterError> {
    let mut told = Vec::new();
    let mut tell = |step: Step| told.push(step.to_string());
    cluster::remove_definitions(&env.client(), NAME, &definitions(), &mut tell).await?;
    Ok(told)
}

async fn deleted(env: &Env, documents: &[Value]) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |step: Step| told.push(step.to_string());
    cluster::delete(&env.client(), documents, &mut tell).await.unwrap();
    told
}

#[kubewright_testenv::test(own)]
async fn a_definition_is_created_unchanged_configured_and_objects_of_its_kind_may_follow(env: Env) {
    let mut documents = documents();
    documents.push(json!({
        "apiVersion": "test.kubewright.dev/v1", "kind": "Book",
        "metadata": {"name": "a", "namespace": env.namespace()}, "spec": {"pages": 1},
    }));
    let book = "book.test.kubewright.dev/a";
    let created = applied(&env, &documents).await.unwrap();
    assert_eq!(created, [format!("{DEFINITION} created"), format!("{book} created")]);
    let unchanged = applied(&env, &documents).await.unwrap();
    assert_eq!(unchanged, [format!("{DEFINITION} unchanged"), format!("{book} unchanged")]);
    documents[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        ["pages"]["maximum"] = json!(5);
    let configured = applied(&env, &documents).await.unwrap();
    assert_eq!(configured, [format!("{DEFINITION} configured"), format!("{book} unchanged")]);
    documents[1]["spec"]["pages"] = json!(6);
    let refused = kubewright::chain(&applied(&env, &documents).await.unwrap_err());
    assert!(refused.contains("spec.pages") && refused.contains('5'), "{refused}");
}

#[kubewright_testenv::test]
async fn what_is_applied_is_deleted_last_first_and_what_is_not_there_is_fine(env: Env) {
    let name = format!("{}-more", env.namespace());
    let text = format!(
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n---\n# nothing\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {}}}\ndata: {{a: b}}\n",
        env.namespace(),
    );
    let documents = cluster::documents(&text).unwrap();
    let created = applied(&env, &documents).await.unwrap();
    assert_eq!(created, [format!("namespace/{name} created"), "configmap/a created".to_owned()]);
    // Without the built-in controllers a namespace does not go, so only the other is deleted.
    assert_eq!(deleted(&env, &documents[1..]).await, ["configmap/a deleted"]);
    assert_eq!(deleted(&env, &documents[1..]).await, ["configmap/a not found"]);
    assert!(env.api::<ConfigMap>().get_opt("a").await.unwrap().is_none());
    let unknown = json!({"apiVersion": "no.such/v1", "kind": "Thing", "metadata": {"name": "a"}});
    let refused = applied(&env, std::slice::from_ref(&unknown)).await.unwrap_err();
    assert_eq!(refused.to_string(), "this cluster does not serve Thing of no.such/v1");
    assert!(deleted(&env, &[unknown]).await.is_empty());
}

#[kubewright_testenv::test(controllers)]
async fn a_namespace_and_what_runs_in_it_are_gone_when_that_is_said(env: Env) {
    let name = format!("{}-more", env.namespace());
    let labels = json!({"app": "a"});
    let documents = [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "a", "namespace": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "a", "image": "a:1"}]},
            }},
        }),
    ];
    applied(&env, &documents).await.unwrap();
    let told = deleted(&env, &documents).await;
    assert_eq!(told, ["deployment.apps/a deleted".to_owned(), format!("namespace/{name} deleted")]);
    let namespaces: Api<Namespace> = Api::all(env.client());
    assert!(namespaces.get_opt(&name).await.unwrap().is_none());
}

#[kubewright_testenv::test(own, controllers)]
async fn definitions_go_with_their_objects_although_no_operator_runs_any_more(env: Env) {
    assert_eq!(uninstalled(&env).await.unwrap(), [format!("{DEFINITION} not found")]);
    let operator = running::start::<Endings>(&env, running::flags(&env)).await;
    for name in ["a", "b", "c"] {
        let book = converged(&env, &operator, book(name)).await;
        assert_eq!(book.finalizers(), [OURS]);
    }
    operator.stop().await;
    let going = env.api::<Book>().get("a").await.unwrap();
    env.delete(&going).await;
    assert_eq!(cluster::count(&env.client(), &definitions()).await.unwrap(), 3);
    assert_eq!(uninstalled(&env).await.unwrap(), [format!("{DEFINITION} deleted")]);
    assert_eq!(cluster::count(&env.client(), &definitions()).await.unwrap(), 0);
    assert_eq!(uninstalled(&env).await.unwrap(), [format!("{DEFINITION} not found")]);
}

#[kubewright_testenv::test(own)]
async fn our_finalizer_comes_off_all_objects_and_theirs_stays(env: Env) {
    env.install(&definitions()).await;
    for number in 0..40 {
        let mut book = book(&format!("a-{number}"));
        book.metadata.finalizers = Some(vec![THEIRS.into(), OURS.into()]);
        env.api().create(&PostParams::default(), &book).await.unwrap();
    }
    let client = env.client();
    let removed = cluster::remove_finalizers(&client, NAME, &definitions()).await.unwrap();
    assert_eq!(removed, 40);
    for book in env.api::<Book>().list(&ListParams::default()).await.unwrap() {
        assert_eq!(book.finalizers(), [THEIRS]);
    }
    assert_eq!(cluster::remove_finalizers(&client, NAME, &definitions()).await.unwrap(), 0);
}

#[kubewright_testenv::test(own, controllers)]
async fn objects_that_wait_for_others_are_named_with_the_remedy(env: Env) {
    env.install(&definitions()).await;
    let mut held = book("held");
    held.metadata.finalizers = Some(vec![OURS.into(), THEIRS.into()]);
    env.create(held).await;
    env.create(book("free")).await;
    let error = uninstalled(&env).await.unwrap_err().to_string();
    assert!(error.contains(&format!("{}/held: {THEIRS}", env.namespace())), "{error}");
    assert!(!error.contains("free") && error.contains("kubectl patch books.test"), "{error}");
    merge::<Book>(&env, "held", json!({"metadata": {"finalizers": null}})).await;
    // A definition that is on its way out already is waited for as well.
    let told = uninstalled(&env).await.unwrap();
    assert!(told[0].starts_with(DEFINITION), "{told:?}");
}

/// What the example operator prints, and whether it is content.
async fn ran(arguments: &[&str]) -> (String, String, bool) {
    let output = Command::new(example()).args(arguments).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

#[kubewright_testenv::test(own)]
async fn the_verbs_of_an_operator_say_what_they_did(env: Env) {
    let kubeconfig = env.environment().kubeconfig_as(Identity::Admin).await.unwrap();
    let flag = format!("--kubeconfig={}", kubeconfig.display());
    let name = "customresourcedefinition.apiextensions.k8s.io/guestbooks.demo.kubewright.dev";
    for (verb, outcome) in [
        ("uninstall", "not found"),
        ("install", "created"),
        ("install", "unchanged"),
        ("uninstall", "deleted"),
        ("uninstall", "not found"),
    ] {
        let (said, complained, good) = ran(&[verb, &flag]).await;
        assert_eq!((said, complained, good), (format!("{name} {outcome}\n"), String::new(), true));
    }
    let (said, complained, good) = ran(&["install", "--kubeconfig=/does/not/exist"]).await;
    assert!(!good && said.is_empty() && complained.contains("/does/not/exist"), "{complained}");
}
