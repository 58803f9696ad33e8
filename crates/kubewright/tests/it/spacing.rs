//! Statuses keep their distance, and the last one is the truth.

use std::time::Duration;

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, BookError, BookStatus, book, map};
use crate::finalizer::{Endings, gone};
use crate::running::{self, settled};
use crate::seen;
use crate::world::{converged, merge, reconciled};

const DISTANCE: Duration = Duration::from_millis(200);

/// A `ConfigMap` per Book, and a status that follows what a stranger writes into it.
struct Followers {
    maps: Owned<ConfigMap>,
}

impl Controller for Followers {
    type Kind = Book;
    type Error = BookError;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        if book.spec.mood == "fail" {
            return Err(BookError::Moody(book.spec.mood.clone()));
        }
        let map = self.maps.apply(pass, map(book, 0)).await?;
        let pages = map.data.and_then(|data| data.get("count")?.parse().ok());
        pass.status(BookStatus { pages, ..BookStatus::default() });
        Ok(Outcome::Done)
    }
}

/// The pauses between the statuses that were written.
fn pauses(env: &Env) -> Vec<Duration> {
    let records = seen::asked(env, &seen::user(env, "operator")).into_iter();
    let statuses = records.filter(|record| record.subresource == "status");
    let times: Vec<_> = statuses.map(|record| record.received).collect();
    times.windows(2).map(|pair| pair[1].duration_since(pair[0]).unsigned_abs()).collect()
}

#[kubewright_testenv::test]
async fn a_burst_of_changes_gives_few_statuses_and_the_last_is_right(env: Env) {
    let operator = running::start::<Followers>(&env, running::flags(&env)).await;
    converged(&env, &operator, book("a")).await;
    let begun = std::time::Instant::now();
    for number in 1..=60 {
        merge::<ConfigMap>(&env, "a", json!({"data": {"count": number.to_string()}})).await;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    let took = begun.elapsed();
    env.eventually("the status tells the last", async || {
        let status = env.api::<Book>().get("a").await.unwrap().status.unwrap();
        if status.pages == Some(60) { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    let pauses = settled(|| pauses(&env)).await;
    println!("{} statuses in {took:?}", pauses.len());
    assert!(pauses.iter().all(|pause| *pause >= DISTANCE), "{pauses:?}");
    assert!(pauses.len() >= 2, "they are not held back until all is over: {pauses:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn failures_keep_the_distance_and_are_told_in_the_end(env: Env) {
    let operator = running::start::<Followers>(&env, running::flags(&env)).await;
    converged(&env, &operator, book("a")).await;
    for _ in 0..5 {
        for mood in ["", "fail"] {
            merge::<Book>(&env, "a", json!({"spec": {"mood": mood}})).await;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
    reconciled(&env, "a", "False", "Moody").await;
    merge::<Book>(&env, "a", json!({"spec": {"mood": ""}})).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let pauses = settled(|| pauses(&env)).await;
    assert!(pauses.iter().all(|pause| *pause >= DISTANCE), "{pauses:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_book_that_is_deleted_right_after_its_status_says_so_and_is_gone_soon(env: Env) {
    let operator = running::start::<Endings>(&env, running::flags(&env)).await;
    let book = env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    env.delete(&book).await;
    seen::within(Duration::from_secs(2), "it is gone", gone(&env, "a")).await;
    let pauses = settled(|| pauses(&env)).await;
    assert_eq!(pauses.len(), 1, "reconciled, and finalizing");
    assert!(pauses[0] >= DISTANCE, "{pauses:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_hundred_changes_in_a_second_cost_few_writes_and_the_last_is_right(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let before = env.api::<Deployment>().get("a").await.unwrap().metadata.generation.unwrap();
    let begun = tokio::time::Instant::now();
    for number in 1..=100 {
        merge::<Book>(&env, "a", json!({"spec": {"pages": number}})).await;
        tokio::time::sleep_until(begun + Duration::from_millis(10 * number)).await;
    }
    let last = env.eventually("the Deployment follows the last", async || {
        let deployment =
            env.api::<Deployment>().get("a").await.map_err(|error| error.to_string())?;
        let replicas = deployment.spec.as_ref().and_then(|spec| spec.replicas);
        if replicas == Some(100) { Ok(deployment) } else { Err(format!("{replicas:?}")) }
    });
    let changes = last.await.metadata.generation.unwrap() - before;
    // Two at once, then one each 600 ms until the last is there: a busy server may tell of it late.
    let took = begun.elapsed();
    let bound = 2 + i64::try_from(took.as_millis() / 600).unwrap();
    println!("{changes} writes of the Deployment for 100 changes in {took:?}");
    assert!(changes <= bound, "{changes} writes in {took:?}");
    operator.stop().await;
}
