//! The API server and the way to it fail in every manner; the operator comes back by itself, and nothing is
//! made twice or lost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use kubewright::Flags;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::k8s_openapi::api::events::v1::Event;
use kubewright::kube::api::{ListParams, Patch, PatchParams};
use kubewright::prelude::*;
use kubewright_testenv::proxy::Proxy;
use kubewright_testenv::{Env, Identity};
use serde_json::json;

use crate::books::{Book, Books, book, passes_of};
use crate::running::{self, Running};
use crate::seen;
use crate::world::reconciled;

/// After an outage: the longest pause of a watch, and 5 s.
const RECOVERY: Duration = Duration::from_secs(35);

/// The books' operator behind a proxy of its own.
pub async fn behind_proxy(env: &Env, flags: Flags) -> (Running, Proxy) {
    any_behind_proxy::<Books>(env, flags).await
}

/// An operator of any controller behind a proxy of its own.
pub async fn any_behind_proxy<C: Controller>(env: &Env, flags: Flags) -> (Running, Proxy) {
    let operator = Operator::new("book-operator").controller::<C>();
    env.install(&operator.definitions()).await;
    let user = seen::user(env, "operator");
    let identity = Identity::User { name: &user, groups: &["system:masters"] };
    let way = env.environment().disturbed(identity).await.unwrap();
    let config = running::config(&way.kubeconfig).await;
    (running::run(operator, config, flags, user), way.proxy)
}

fn patient(env: &Env) -> Flags {
    let mut flags = running::flags(env);
    flags.reconcile_timeout = Duration::from_secs(30);
    flags
}

/// Asserts that every child of these books exists, and was created once. A write whose client has gone is
/// not on the record as done, so that one may be missing there.
async fn assert_made_once(env: &Env, books: &[&str]) {
    let maps = env.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
    let mut maps: Vec<_> = maps.iter().map(ResourceExt::name_any).collect();
    maps.retain(|name| name != "kube-root-ca.crt");
    assert_eq!(maps, books);
    let deployments = env.api::<Deployment>().list(&ListParams::default()).await.unwrap();
    let deployments: Vec<_> = deployments.iter().map(ResourceExt::name_any).collect();
    assert_eq!(deployments, books);
    let written = seen::written(env, &seen::user(env, "operator"));
    let mut created = BTreeSet::new();
    for record in written.iter().filter(|record| record.code == 201) {
        assert!(created.insert((&record.resource, &record.name)), "made twice: {record:?}");
    }
    assert!(written.iter().all(|record| record.verb != "delete"), "{written:#?}");
}

#[kubewright_testenv::test(own)]
async fn an_api_server_that_is_away_for_half_a_minute_is_waited_for(env: Env) {
    let (port, user) = (seen::free_port(), seen::user(&env, "operator"));
    let mut flags = running::flags(&env);
    flags.health_probe_bind_address = format!("127.0.0.1:{port}");
    let operator = running::start::<Books>(&env, flags).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    seen::answers(&env, port, "/readyz", 200).await;
    let before = running::settled(|| seen::lists(&env, &user)).await;

    env.environment().apiserver().kill().await.unwrap();
    let killed = Instant::now();
    let limit = Duration::from_secs(20);
    let unready = seen::answers(&env, port, "/readyz", 500);
    let unready = seen::within(limit, "/readyz fails", unready).await;
    tokio::time::sleep_until((killed + Duration::from_secs(30)).into()).await;
    assert_eq!(seen::get(port, "/healthz").await.unwrap().0, 200, "a restart would not help");

    env.environment().apiserver().start().unwrap();
    env.environment().until_ready().await.unwrap();
    let back = async {
        seen::edit(&env, "a", |book| book.spec.text = "twice".into()).await;
        env.create(book("b")).await;
        seen::text(&env, "a", "twice").await;
        reconciled(&env, "b", "True", "Reconciled").await;
    };
    let back = seen::within(RECOVERY, "it goes on", back).await;
    seen::answers(&env, port, "/readyz", 200).await;
    let after = running::settled(|| seen::lists(&env, &user)).await;
    for (resource, count) in &after {
        assert!(count - before[resource] <= 1, "{resource}: {before:?}, {after:?}");
    }
    assert_made_once(&env, &["a", "b"]).await;
    eprintln!("unready after {unready:?}, back after {back:?}");
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn a_watch_that_expires_is_listed_again_once_and_nothing_is_deleted(env: Env) {
    let user = seen::user(&env, "operator");
    let (operator, proxy) = behind_proxy(&env, running::flags(&env)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let before = running::settled(|| seen::lists(&env, &user)).await;
    let first = env.api::<ConfigMap>().get("a").await.unwrap();

    // What the proxy still holds back when the watches expire is lost.
    proxy.delay(Duration::from_millis(500));
    seen::edit(&env, "a", |book| book.spec.text = "meanwhile".into()).await;
    assert_eq!(proxy.expire_watches(), 3);
    proxy.heal();
    let changed = seen::text(&env, "a", "meanwhile").await;
    assert_eq!(changed.uid(), first.uid());
    let after = running::settled(|| seen::lists(&env, &user)).await;
    // A kind that was just installed may refuse its first watch, which is then looked into by a list of one.
    for (resource, count) in &after {
        assert_eq!(count - before[resource], 1, "{resource}: {before:?}, {after:?}");
    }
    assert_made_once(&env, &["a"]).await;
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn requests_to_a_paused_api_server_end_by_their_deadline(env: Env) {
    let (operator, proxy) = behind_proxy(&env, patient(&env)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    // The news of the next book is held back until nobody answers any more.
    proxy.delay(Duration::from_secs(1));
    env.create(book("b")).await;
    env.environment().apiserver().pause();
    let paused = Instant::now();
    let key = format!("{}/b", env.namespace());
    let second = env.eventually("the first pass ends", async || match passes_of(&key) {
        0 | 1 => Err("it runs".to_owned()),
        _ => Ok(()),
    });
    // 10 s for the children and 10 s for the status.
    let second = seen::within(Duration::from_secs(32), "a second pass begins", second).await;
    tokio::time::sleep_until((paused + Duration::from_secs(40)).into()).await;
    proxy.heal();
    env.environment().apiserver().resume();
    env.environment().until_ready().await.unwrap();
    let back = reconciled(&env, "b", "True", "Reconciled");
    let back = seen::within(RECOVERY, "it goes on", back).await;
    assert_made_once(&env, &["a", "b"]).await;
    eprintln!("second pass after {second:?}, back after {back:?}");
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn the_caches_follow_a_cluster_that_goes_back_in_time(env: Env) {
    eprintln!("back after {:?}", goes_back_in_time(&env, 0).await);
}

/// The operator comes back when one kind has seen a later time than it is now, and the other has not.
#[kubewright_testenv::test(own)]
async fn the_caches_follow_a_cluster_that_went_back_and_on_while_they_were_away(env: Env) {
    eprintln!("back after {:?}", goes_back_in_time(&env, 150).await);
}

/// The cluster is restored from a backup and changed so many times before the operator reaches it again: how
/// long it then takes until all is as it should be.
async fn goes_back_in_time(env: &Env, meanwhile: u32) -> Duration {
    let (operator, proxy) = behind_proxy(env, running::flags(env)).await;
    for name in ["changed", "remade", "deleted"] {
        env.create(book(name)).await;
        reconciled(env, name, "True", "Reconciled").await;
    }
    let snapshot = env.environment().snapshot().unwrap();

    seen::edit(env, "changed", |book| book.spec.text = "future".into()).await;
    seen::text(env, "changed", "future").await;
    let map = env.api::<ConfigMap>().get("remade").await.unwrap();
    env.delete(&map).await;
    env.eventually("the map is made anew", async || {
        let now = env.api::<ConfigMap>().get("remade").await.map_err(|error| error.to_string())?;
        if now.uid() == map.uid() { Err("it is the old one".to_owned()) } else { Ok(()) }
    })
    .await;
    let gone = env.api::<Book>().get("deleted").await.unwrap();
    env.delete(&gone).await;
    env.create(book("later")).await;
    reconciled(env, "later", "True", "Reconciled").await;
    advance(env, "later", 300).await;
    let _ = running::settled(|| operator.writes(env)).await;
    proxy.cut();
    env.environment().restore(&snapshot).await.unwrap();
    if meanwhile > 0 {
        advance(env, "changed", meanwhile).await;
        // Started anew, it remembers no event: whoever comes has to list.
        env.environment().apiserver().kill().await.unwrap();
        env.environment().apiserver().start().unwrap();
        env.environment().until_ready().await.unwrap();
    }
    proxy.heal();

    let back = async {
        let names = ["changed", "remade", "deleted"];
        for name in names {
            seen::edit(env, name, |book| book.spec.text = "after".into()).await;
        }
        env.create(book("new")).await;
        for name in names {
            seen::text(env, name, "after").await;
            reconciled(env, name, "True", "Reconciled").await;
        }
        seen::text(env, "new", "once").await;
        reconciled(env, "new", "True", "Reconciled").await;
    };
    let back = seen::within(RECOVERY, "it follows", back).await;
    operator.stop().await;
    back
}

/// Changes a book until the cluster's resourceVersion is this much higher, as far as the operator sees.
async fn advance(env: &Env, name: &str, count: u32) {
    for tick in 0..count {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"tick": tick.to_string()}}}));
        env.api::<Book>().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }
}

#[kubewright_testenv::test]
async fn a_slow_api_server_is_put_up_with(env: Env) {
    let (operator, proxy) = behind_proxy(&env, patient(&env)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    proxy.delay(Duration::from_secs(2));
    env.create(book("b")).await;
    let converged = reconciled(&env, "b", "True", "Reconciled");
    let converged = seen::within(Duration::from_secs(15), "it converges", converged).await;
    proxy.heal();
    assert_made_once(&env, &["a", "b"]).await;
    eprintln!("converged after {converged:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_write_whose_answer_is_lost_is_not_done_twice(env: Env) {
    let mut flags = patient(&env);
    flags.max_concurrent_reconciles = 8;
    let (operator, proxy) = behind_proxy(&env, flags).await;
    let (mut names, mut lost) = (Vec::new(), 0);
    for round in 0..10 {
        let before = running::settled(|| proxy.requests()).await;
        let new: Vec<_> = (0..8).map(|number| format!("book-{round}-{number}")).collect();
        join_all(new.iter().map(|name| env.create(book(name)))).await;
        // In the midst of writing.
        let sent = async {
            while proxy.requests() < before + 4 + round {
                tokio::task::yield_now().await;
            }
        };
        seen::within(RECOVERY, "some writes are sent", sent).await;
        proxy.cut();
        let done = children(&env).await;
        proxy.heal();
        for name in &new {
            reconciled(&env, name, "True", "Reconciled").await;
        }
        lost += unanswered(&env, &done).await;
        names.extend(new);
        if lost > 0 {
            break;
        }
    }
    assert_ne!(lost, 0, "no answer was lost: the test has shown nothing");
    assert_made_once(&env, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    eprintln!("{lost} answers lost");
    operator.stop().await;
}

/// All children, once the server has done what it was asked for.
async fn children(env: &Env) -> Vec<String> {
    running::settled(|| seen::asked(env, &seen::user(env, "operator")).len()).await;
    let maps = env.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
    let maps = maps.iter().map(|map| format!("ConfigMap {}/{}", env.namespace(), map.name_any()));
    let deployments = env.api::<Deployment>().list(&ListParams::default()).await.unwrap();
    let deployments = deployments
        .iter()
        .map(|deployment| format!("Deployment {}/{}", env.namespace(), deployment.name_any()));
    maps.chain(deployments).collect()
}

/// How many of these children, which were there, the operator says it could not create.
async fn unanswered(env: &Env, done: &[String]) -> usize {
    running::settled(|| seen::asked(env, &seen::user(env, "operator")).len()).await;
    let events = env.api::<Event>().list(&ListParams::default()).await.unwrap();
    let notes: Vec<_> = events.iter().filter_map(|event| event.note.as_deref()).collect();
    let is_missed = |child: &&String| {
        let note = format!("cannot create {child}:");
        notes.iter().any(|said| said.starts_with(&note))
    };
    done.iter().filter(is_missed).count()
}
