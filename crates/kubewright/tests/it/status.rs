//! What an object says of itself is true, is kept, and is nobody else's business.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kubewright::RECONCILED;
use kubewright::conditions::find;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::Api;
use kubewright::kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kubewright::kube::discovery::ApiResource;
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::{Value, json};

use crate::books::{Book, Books, book};
use crate::running::{self, settled};
use crate::world::{STRANGER, converged, merge, reconciled, writes_since};

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Books>()
}

fn conditions(book: &Book) -> Vec<Condition> {
    book.status.clone().unwrap_or_default().conditions
}

fn condition(book: &Book, type_: &str) -> Condition {
    find(&conditions(book), type_).cloned().unwrap()
}

/// Changes the spec and waits until the status tells of it.
async fn changed(env: &Env, spec: Value, reason: &str) -> Book {
    // Times in conditions are whole seconds: let one pass, so that a new time is another time.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    merge::<Book>(env, "a", json!({"spec": spec})).await;
    let status = if reason == "Reconciled" { "True" } else { "False" };
    reconciled(env, "a", status, reason).await;
    env.api::<Book>().get("a").await.unwrap()
}

#[kubewright_testenv::test]
async fn a_transition_time_changes_with_the_status_and_with_nothing_else(env: Env) {
    let operator = running::books(&env).await;
    let first = converged(&env, &operator, book("a")).await;
    assert_eq!(condition(&first, RECONCILED).observed_generation, Some(1));
    let since = |book: &Book, type_| condition(book, type_).last_transition_time;
    let second = changed(&env, json!({"text": "twice"}), "Reconciled").await;
    assert_eq!(condition(&second, "Printed").message, "twice");
    assert_eq!(condition(&second, "Printed").observed_generation, Some(2));
    for type_ in ["Printed", RECONCILED] {
        assert_eq!(since(&second, type_), since(&first, type_), "{type_}");
    }
    let blank = changed(&env, json!({"pages": 0}), "Reconciled").await;
    assert_eq!(condition(&blank, "Printed").status, "False");
    assert!(since(&blank, "Printed").0 > since(&second, "Printed").0);
    assert_eq!(since(&blank, RECONCILED), since(&second, RECONCILED));
    let failed = changed(&env, json!({"mood": "fail"}), "Moody").await;
    assert!(since(&failed, RECONCILED).0 > since(&blank, RECONCILED).0);
    // A failed pass says nothing of the author's conditions: they stay.
    assert_eq!(condition(&failed, "Printed"), condition(&blank, "Printed"));
    assert_eq!(failed.status.clone().unwrap().pages, Some(0));
    let panicked = changed(&env, json!({"mood": "panic"}), "Panicked").await;
    assert_eq!(since(&panicked, RECONCILED), since(&failed, RECONCILED));
    let well = changed(&env, json!({"mood": ""}), "Reconciled").await;
    assert!(since(&well, RECONCILED).0 > since(&failed, RECONCILED).0);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_condition_of_another_manager_survives(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let foreign = json!({"type": "Foreign", "status": "True", "reason": "Because", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let patch = json!({"apiVersion": "test.kubewright.dev/v1", "kind": "Book",
        "status": {"conditions": [foreign]}});
    let books = env.api::<Book>();
    books.patch_status("a", &PatchParams::apply(STRANGER), &Patch::Apply(patch)).await.unwrap();
    let writes = writes_since(&env, &operator, 3).await;
    assert!(writes.is_empty(), "{writes:#?}");
    for spec in [json!({"text": "twice"}), json!({"mood": "panic"})] {
        let reason = if spec["mood"] == "panic" { "Panicked" } else { "Reconciled" };
        let book = changed(&env, spec, reason).await;
        assert_eq!(condition(&book, "Foreign").reason, "Because");
    }
    operator.stop().await;
}

/// The test's kind as an older version of it might have been, with any spec and any status.
fn loose() -> Value {
    let mut definition = serde_json::to_value(&operator().definitions()[0]).unwrap();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let loose = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    schema["properties"]["spec"] = loose.clone();
    let conditions = schema["properties"]["status"]["properties"]["conditions"].clone();
    schema["properties"]["status"] = loose;
    schema["properties"]["status"]["properties"] = json!({"conditions": conditions});
    definition
}

#[kubewright_testenv::test(own)]
async fn an_object_that_does_not_fit_its_type_is_told_and_costs_nobody_else(env: Env) {
    env.install(&[serde_json::from_value(loose()).unwrap()]).await;
    let kind = ApiResource::erase::<Book>(&());
    let books: Api<DynamicObject> = Api::namespaced_with(env.client(), env.namespace(), &kind);
    let odd = DynamicObject::new("odd", &kind).data(json!({"spec": {"pages": "many"}}));
    books.create(&PostParams::default(), &odd).await.unwrap();
    let kept = Patch::Merge(json!({"status": {"kept": "yes"}}));
    books.patch_status("odd", &PatchParams::default(), &kept).await.unwrap();
    let operator = running::start_as(&env, operator(), running::flags(&env), "operator").await;
    env.create(book("good")).await;
    reconciled(&env, "good", "True", "Reconciled").await;
    env.eventually("the odd one is told", async || {
        let odd = books.get("odd").await.unwrap();
        let told = odd.data["status"]["conditions"][0].clone();
        if told["reason"] == "Undecodable" && odd.data["status"]["kept"] == "yes" {
            Ok(())
        } else {
            Err(format!("{:#}", odd.data))
        }
    })
    .await;
    // One that becomes odd keeps what it said before, and its children.
    let patch = Patch::Merge(json!({"spec": {"pages": "many"}}));
    books.patch("good", &PatchParams::default(), &patch).await.unwrap();
    let data = env
        .eventually("the good one is odd", async || {
            let data = books.get("good").await.unwrap().data;
            let conditions = data["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let told = conditions.iter().any(|condition| condition["reason"] == "Undecodable");
            if told { Ok(data) } else { Err(format!("{data:#}")) }
        })
        .await;
    assert_eq!(data["status"]["pages"], 2, "{data:#}");
    assert_eq!(data["status"]["conditions"].as_array().unwrap().len(), 2, "{data:#}");
    assert!(env.api::<ConfigMap>().get_opt("good").await.unwrap().is_some());
    let writes = settled(|| operator.writes(&env)).await;
    assert_eq!(writes.len(), 5, "{writes:#?}");
    let mend = Patch::Merge(json!({"spec": {"pages": 3}}));
    books.patch("odd", &PatchParams::default(), &mend).await.unwrap();
    reconciled(&env, "odd", "True", "Reconciled").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn the_last_of_many_quick_changes_wins(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    for round in 0..5 {
        for number in 0..10 {
            let text = format!("{round}-{number}");
            merge::<Book>(&env, "a", json!({"spec": {"text": text, "pages": number}})).await;
        }
        reconciled(&env, "a", "True", "Reconciled").await;
        let map = env.api::<ConfigMap>().get("a").await.unwrap();
        assert_eq!(map.data.unwrap()["text"], format!("{round}-9"));
        let book = env.api::<Book>().get("a").await.unwrap();
        assert_eq!(book.status.unwrap().pages, Some(9));
    }
    let writes = writes_since(&env, &operator, 3).await;
    println!("{} writes for 50 changes", writes.len());
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_status_is_written_between_the_writes_of_somebody_restless(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let (books, stop) = (env.api::<Book>(), Arc::new(AtomicBool::new(false)));
    let restless = tokio::spawn({
        let stop = stop.clone();
        async move {
            for number in 0.. {
                if stop.load(Ordering::Acquire) {
                    break;
                }
                let patch = json!({"metadata": {"labels": {"n": number.to_string()}}});
                let _ = books.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    });
    for text in ["one", "two", "three", "four", "five"] {
        merge::<Book>(&env, "a", json!({"spec": {"text": text}})).await;
        reconciled(&env, "a", "True", "Reconciled").await;
        let map = env.api::<ConfigMap>().get("a").await.unwrap();
        assert_eq!(map.data.unwrap()["text"], text);
    }
    stop.store(true, Ordering::Release);
    restless.await.unwrap();
    let writes = writes_since(&env, &operator, 3).await;
    let conflicts = writes.iter().filter(|write| write.ends_with(" 409")).count();
    println!("{} writes, {conflicts} conflicts", writes.len());
    assert!(writes.len() - conflicts <= 15, "{writes:#?}");
    operator.stop().await;
}
