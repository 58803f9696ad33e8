//! Writes that are refused again and again: the operator asks less and less, says why, and heals.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::Response;
use hyper::body::Bytes;
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kubewright_testenv::Env;
use memcached_faults::oracle::isolated;
use memcached_faults::script::status;
use serde_json::json;
use tokio::time::sleep;

use crate::stage::{Nothing, Refusing, Stage};

/// E11, with 3 s in the place of 30 s.
fn wait_three_seconds() -> Response<Bytes> {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 429,
        "reason": "TooManyRequests", "message": "(injected)", "details": {"retryAfterSeconds": 3}});
    let mut answer = status(429, "TooManyRequests");
    answer.headers_mut().insert("retry-after", http::HeaderValue::from_static("3"));
    *answer.body_mut() = Bytes::from(body.to_string());
    answer
}

/// What was sent, and how long after what was sent before it.
fn pauses(hook: &Refusing) -> Vec<(String, Duration)> {
    let times = hook.times.lock().unwrap();
    times.windows(2).map(|it| (it[1].0.clone(), it[1].1 - it[0].1)).collect()
}

#[kubewright_testenv::test]
async fn e11_a_server_that_asks_for_patience_is_given_it(env: Env) {
    let hook = Refusing::new("", wait_three_seconds);
    let stage = Stage::new(&env, hook.clone(), &[]).await;
    stage.create("a", 1).await;
    stage
        .eventually("three writes are refused", async || {
            if hook.count() >= 3 { Ok(()) } else { Err(format!("{:?}", pauses(&hook))) }
        })
        .await;
    // Nothing else is sent meanwhile either: no status and no event that would only be refused as well.
    let pauses = pauses(&hook);
    let kept = |(_, pause): &(String, Duration)| *pause >= Duration::from_millis(2900);
    assert!(pauses.iter().all(kept), "{pauses:?}");
    hook.on.store(false, Ordering::SeqCst);
    stage.settled().await;
    stage.stands();
}

#[kubewright_testenv::test]
async fn e14_ten_conflicts_in_a_row_are_overcome_with_few_tries(env: Env) {
    let hook = Refusing::new("/status", || status(409, "Conflict"));
    hook.left.store(10, Ordering::SeqCst);
    let stage = Stage::new(&env, hook.clone(), &[]).await;
    stage.create("a", 1).await;
    let took = stage.settled().await;
    assert_eq!(hook.count(), 10, "after {took:?}");
    stage.stands();
}

#[kubewright_testenv::test]
async fn e3_a_store_without_space_is_asked_less_and_less_and_all_heals(env: Env) {
    let hook = Refusing::new("", || status(500, "etcdserver: mvcc: database space exceeded"));
    let stage = Stage::new(&env, hook.clone(), &["--max-backoff=10s"]).await;
    stage.create("a", 1).await;
    sleep(Duration::from_secs(20)).await;
    let asked = hook.count();
    let recent = hook
        .times
        .lock()
        .unwrap()
        .iter()
        .filter(|(_, at)| at.elapsed() < Duration::from_secs(10))
        .count();
    assert!(asked > 3, "it goes on trying: {asked}");
    assert!(recent <= 8, "{recent} writes in the last 10 s of {asked}");
    hook.on.store(false, Ordering::SeqCst);
    let took = stage.settled().await;
    assert!(took <= Duration::from_secs(25), "{took:?}");
    stage.stands();
}

#[kubewright_testenv::test(controllers)]
async fn o13_a_quota_that_forbids_a_child_is_told_and_its_end_heals(env: Env) {
    let stage = Stage::new(&env, std::sync::Arc::new(Nothing), &["--max-backoff=5s"]).await;
    let quotas: Api<ResourceQuota> = Api::namespaced(stage.world.client(), &stage.namespace);
    let quota =
        json!({"metadata": {"name": "none"}, "spec": {"hard": {"count/deployments.apps": "0"}}});
    let quota = serde_json::from_value(quota).unwrap();
    quotas.create(&PostParams::default(), &quota).await.unwrap();
    stage
        .eventually("the quota is in force", async || {
            let quota = quotas.get("none").await.map_err(|error| error.to_string())?;
            let hard = quota.status.and_then(|status| status.hard);
            hard.map(drop).ok_or_else(|| "its controller has not seen it".to_owned())
        })
        .await;
    stage.create("a", 1).await;
    stage.told("a", "quota").await;
    quotas.delete("none", &DeleteParams::background()).await.unwrap();
    let took = stage.settled().await;
    eprintln!("healed after {took:?}");
    stage.stands();
}

#[kubewright_testenv::test]
async fn s4_a_hundred_sizes_in_a_second_cost_at_most_five_writes(env: Env) {
    let stage = Stage::new(&env, std::sync::Arc::new(Nothing), &[]).await;
    stage.create("a", 0).await;
    stage.settled().await;
    let generation =
        async || stage.deployments().get("a").await.unwrap().metadata.generation.unwrap();
    let before = generation().await;
    let began = Instant::now();
    for size in 1..=100 {
        stage.resize("a", size).await;
    }
    let took = began.elapsed();
    stage.settled().await;
    let writes = generation().await - before;
    let bound = 4 + i64::try_from(took.as_millis() / 600).unwrap();
    eprintln!("{writes} writes for 100 sizes in {took:?}");
    assert!(writes <= bound, "{writes} writes in {took:?}");
}

/// V5: twenty good caches beside thirty whose names are taken, and without.
#[kubewright_testenv::test]
async fn v5_a_good_cache_is_not_delayed_by_bad_ones(env: Env) {
    let stage = Stage::new(&env, std::sync::Arc::new(Nothing), &[]).await;
    let good = async |prefix: &str| {
        let mut times = Vec::new();
        for number in 0..20 {
            let name = format!("{prefix}-{number}");
            let began = Instant::now();
            stage.create(&name, 0).await;
            stage
                .eventually("its Deployment is there", async || {
                    let found = stage
                        .deployments()
                        .get_opt(&name)
                        .await
                        .map_err(|error| error.to_string())?;
                    found.map(drop).ok_or_else(|| "it is not".to_owned())
                })
                .await;
            times.push(began.elapsed());
            sleep(Duration::from_millis(200)).await;
        }
        times
    };
    let clean = good("clean").await;
    for number in 0..30 {
        let name = format!("bad-{number}");
        let foreign = json!({"metadata": {"name": name}, "spec": {"replicas": 0,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}});
        let foreign = serde_json::from_value(foreign).unwrap();
        stage.deployments().create(&PostParams::default(), &foreign).await.unwrap();
        stage.create(&name, 0).await;
    }
    // Twenty of each on a busy machine: half a second more is its noise, and more than that once is, too. A queue of bad
    // ones would be in the way each time.
    let p99_clean = isolated::percentile(&clean, 99);
    let mut seen = Vec::new();
    for round in 0..3 {
        let p99_beside = isolated::percentile(&good(&format!("beside-{round}")).await, 99);
        seen.push(p99_beside);
        if p99_beside <= p99_clean * 2 + Duration::from_millis(500) {
            break;
        }
    }
    eprintln!("p99 {p99_clean:?} without bad ones, {seen:?} beside 30 of them");
    let best = seen.iter().min().copied().unwrap_or_default();
    assert!(best <= p99_clean * 2 + Duration::from_millis(500), "{seen:?}, {p99_clean:?} without");
    stage.stands();
}
