//! What is not ours is never touched; what is ours and no longer wanted goes, and nothing else.

use std::time::{Duration, Instant};

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, ListParams, PostParams};
use kubewright::prelude::*;
use kubewright::{MANAGED_BY, kube};
use kubewright_testenv::{Env, Identity};
use serde_json::{Value, json};

use crate::books::{Book, Books, book, deployment, map};
use crate::running::{self, Running, settled};
use crate::world::{converged, merge, reconciled, writes_since};

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Books>()
}

fn appendices(name: &str, count: i32) -> Book {
    let mut book = book(name);
    book.spec.appendices = count;
    book
}

async fn map_names(env: &Env) -> Vec<String> {
    let maps = env.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
    let names = maps.items.iter().map(ResourceExt::name_any);
    names.filter(|name| name != "kube-root-ca.crt").collect()
}

async fn eventually_maps(env: &Env, expected: &[&str]) {
    env.eventually(&format!("the ConfigMaps are {expected:?}"), async || {
        let names = map_names(env).await;
        if names == expected { Ok(()) } else { Err(format!("{names:?}")) }
    })
    .await;
}

fn deletions(env: &Env, operator: &Running) -> Vec<String> {
    let requests = operator.requests(env).into_iter();
    let deletions = requests.filter(|request| request.verb == "delete");
    deletions.map(|request| request.name).collect()
}

/// As when an object is deleted and created again before the garbage collector has been there.
#[kubewright_testenv::test]
async fn an_object_that_was_created_anew_goes_on_as_soon_as_the_old_child_is_gone(env: Env) {
    let operator = running::books(&env).await;
    let mut old = map(&book("a"), 0);
    let owner = json!([{"apiVersion": "test.kubewright.dev/v1", "kind": "Book", "name": "a",
        "controller": true, "uid": "6f1c6f0e-0000-4000-8000-000000000000"}]);
    old.metadata.owner_references = serde_json::from_value(owner).unwrap();
    old.metadata.labels = serde_json::from_value(json!({MANAGED_BY: "book-operator"})).unwrap();
    let old = env.create(old).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "False", "NameTaken").await;
    tokio::time::sleep(Duration::from_secs(6)).await; // the back-off is at seconds by now
    env.delete(&old).await;
    let begun = Instant::now();
    reconciled(&env, "a", "True", "Reconciled").await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_strangers_object_under_our_name_is_left_alone_until_it_goes(env: Env) {
    let operator = running::books(&env).await;
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "controller": true,
        "uid": "6f1c6f0e-0000-4000-8000-000000000000"}]);
    let ours = json!({MANAGED_BY: "book-operator"});
    let cases: [(&str, Value, Value); 4] = [
        ("nobodys", Value::Null, Value::Null),
        ("anothers", owner.clone(), Value::Null),
        ("labelled", owner, ours.clone()),
        ("orphaned", Value::Null, ours),
    ];
    for (name, owners, labels) in cases {
        let mut foreign = map(&book(name), 0);
        foreign.metadata.owner_references = serde_json::from_value(owners.clone()).unwrap();
        foreign.metadata.labels = serde_json::from_value(labels.clone()).unwrap();
        let foreign = env.create(foreign).await;
        let mut workload = deployment(&book(&format!("{name}-2")));
        workload.metadata.owner_references = serde_json::from_value(owners).unwrap();
        workload.metadata.labels = serde_json::from_value(labels).unwrap();
        let workload = env.create(workload).await;
        env.create(book(name)).await;
        env.create(book(&format!("{name}-2"))).await;
        let message = reconciled(&env, name, "False", "NameTaken").await;
        assert!(message.contains(&format!("ConfigMap {}/{name} ", env.namespace())), "{message}");
        let message = reconciled(&env, &format!("{name}-2"), "False", "NameTaken").await;
        assert!(message.contains(&format!("/{name}-2 ")), "{message}");
        let still = env.api::<ConfigMap>().get(name).await.unwrap();
        assert_eq!(still.resource_version(), foreign.resource_version());
        let still = env.api::<Deployment>().get(&workload.name_any()).await.unwrap();
        assert_eq!(still.resource_version(), workload.resource_version());
        let removed = Instant::now();
        env.delete(&foreign).await;
        env.delete(&workload).await;
        reconciled(&env, name, "True", "Reconciled").await;
        reconciled(&env, &format!("{name}-2"), "True", "Reconciled").await;
        println!("{name}: healed after {:?}", removed.elapsed());
        assert!(removed.elapsed() < Duration::from_secs(5), "{:?}", removed.elapsed());
    }
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn what_is_no_longer_wanted_goes_and_nothing_else(env: Env) {
    let operator = running::books(&env).await;
    let (a, b) = (appendices("a", 3), appendices("b", 2));
    converged(&env, &operator, a).await;
    converged(&env, &operator, b).await;
    let mut labelled = map(&book("labelled"), 0);
    labelled.metadata.labels = Some([(MANAGED_BY.into(), "book-operator".into())].into());
    env.create(labelled).await;
    let before = settled(|| operator.writes(&env).len()).await;
    merge::<Book>(&env, "a", json!({"spec": {"appendices": 1}})).await;
    eventually_maps(&env, &["a", "a-1", "b", "b-1", "b-2", "labelled"]).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let mut writes = writes_since(&env, &operator, before).await;
    writes[..2].sort();
    let expected =
        ["delete configmaps/ a-2 200", "delete configmaps/ a-3 200", "patch books/status a 200"];
    assert_eq!(writes, expected);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_failed_pass_removes_nothing(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, appendices("a", 3)).await;
    merge::<Book>(&env, "a", json!({"spec": {"appendices": 1, "mood": "fail"}})).await;
    reconciled(&env, "a", "False", "Moody").await;
    merge::<Book>(&env, "a", json!({"spec": {"mood": "panic"}})).await;
    reconciled(&env, "a", "False", "Panicked").await;
    // Nor does one that says that it is waiting for something.
    merge::<Book>(&env, "a", json!({"spec": {"mood": "wait"}})).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    settled(|| operator.writes(&env).len()).await;
    assert_eq!(deletions(&env, &operator), Vec::<String>::new());
    assert_eq!(map_names(&env).await, ["a", "a-1", "a-2", "a-3"]);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_child_that_was_replaced_under_our_hands_is_not_deleted(env: Env) {
    env.install(&operator().definitions()).await;
    let user = format!("slow-{}", env.namespace());
    let identity = Identity::User { name: &user, groups: &["system:masters"] };
    let disturbed = env.environment().disturbed(identity).await.unwrap();
    let config = running::config(&disturbed.kubeconfig).await;
    let operator = running::run(operator(), config, running::flags(&env), user);
    converged(&env, &operator, appendices("a", 2)).await;
    // News and requests take so long that the second deletion is under way before it is outdated.
    disturbed.proxy.delay(Duration::from_secs(2));
    merge::<Book>(&env, "a", json!({"spec": {"appendices": 0}})).await;
    let first = env
        .eventually("the first is deleted", async || {
            deletions(&env, &operator).pop().ok_or_else(|| "none".to_owned())
        })
        .await;
    let other = if first == "a-1" { "a-2" } else { "a-1" };
    let own = env.api::<ConfigMap>().get(other).await.unwrap();
    env.delete(&own).await;
    let mut foreign = map(&book(other), 0);
    foreign.data = None;
    let foreign = env.create(foreign).await;
    env.eventually("the second deletion is tried", async || match deletions(&env, &operator) {
        names if names.len() > 1 => Ok(()),
        names => Err(format!("{names:?}")),
    })
    .await;
    disturbed.proxy.heal();
    reconciled(&env, "a", "True", "Reconciled").await;
    let writes = settled(|| operator.writes(&env)).await;
    let refused = format!("delete configmaps/ {other} 409");
    assert!(writes.contains(&refused), "{writes:#?}");
    let still = env.api::<ConfigMap>().get(other).await.unwrap();
    assert_eq!(still.resource_version(), foreign.resource_version());
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn the_children_of_a_book_that_is_gone_are_not_its_namesakes(env: Env) {
    let operator = running::books(&env).await;
    // Nobody collects garbage here, so the children stay.
    let first = converged(&env, &operator, book("a")).await;
    env.delete(&first).await;
    let second = env.create(book("a")).await;
    assert_ne!(first.uid(), second.uid());
    let message = reconciled(&env, "a", "False", "NameTaken").await;
    assert!(message.contains(&first.uid().unwrap()), "{message}");
    // Nor if they were left behind on purpose, without an owner.
    let orphaned: ConfigMap = merge(&env, "a", json!({"metadata": {"ownerReferences": []}})).await;
    merge::<Deployment>(&env, "a", json!({"metadata": {"ownerReferences": []}})).await;
    env.eventually("the orphan is told of", async || {
        let message = reconciled(&env, "a", "False", "NameTaken").await;
        if message.contains("belongs to nobody") { Ok(()) } else { Err(message) }
    })
    .await;
    let still = env.api::<ConfigMap>().get("a").await.unwrap();
    assert_eq!(still.resource_version(), orphaned.resource_version());
    env.delete(&still).await;
    env.delete(&env.api::<Deployment>().get("a").await.unwrap()).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    operator.stop().await;
}

#[kubewright_testenv::test(controllers)]
async fn a_deleted_book_takes_its_children_along_without_our_help(env: Env) {
    let operator = running::books(&env).await;
    let book = converged(&env, &operator, appendices("a", 2)).await;
    converged(&env, &operator, crate::books::book("b")).await;
    let before = operator.requests(&env).len();
    env.delete(&book).await;
    eventually_maps(&env, &["b"]).await;
    env.eventually("the Deployment is gone", async || {
        match env.api::<Deployment>().get_opt("a").await.unwrap() {
            None => Ok(()),
            Some(deployment) => Err(format!("{:?}", deployment.metadata)),
        }
    })
    .await;
    let requests = settled(|| operator.requests(&env)).await.split_off(before);
    assert!(requests.is_empty(), "{requests:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test(controllers)]
async fn a_namespace_that_goes_is_not_held_up(env: Env) {
    let namespaces: Api<Namespace> = Api::all(env.client());
    let name = format!("{}-doomed", &env.namespace()[..20]);
    let namespace = Namespace {
        metadata: kube::api::ObjectMeta { name: Some(name.clone()), ..Default::default() },
        ..Default::default()
    };
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let mut flags = running::flags(&env);
    flags.namespaces = [name.clone()].into_iter().collect();
    let operator = running::start::<Books>(&env, flags).await;
    let books: Api<Book> = Api::namespaced(env.client(), &name);
    for number in 0..20 {
        books.create(&PostParams::default(), &book(&format!("b-{number}"))).await.unwrap();
    }
    env.eventually("all are reconciled", async || match operator.writes(&env).len() {
        count if count >= 60 => Ok(()),
        count => Err(format!("{count} writes")),
    })
    .await;
    let before = settled(|| operator.writes(&env).len()).await;
    namespaces.delete(&name, &DeleteParams::default()).await.unwrap();
    env.eventually("the namespace is gone", async || {
        match namespaces.get_opt(&name).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
    let writes = writes_since(&env, &operator, before).await;
    let refused = writes.iter().filter(|write| write.ends_with(" 403")).count();
    println!("{refused} refused, {} requests: {writes:#?}", writes.len());
    assert!(refused <= 20, "{writes:#?}");
    for number in 0..20 {
        let of = |write: &&String| write.ends_with(&format!(" b-{number} 403"));
        assert!(writes.iter().filter(of).count() <= 1, "one per book at most: {writes:#?}");
    }
    assert!(writes.len() <= 40, "{writes:#?}");
    operator.stop().await;
}
