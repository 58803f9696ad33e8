//! A certificate that is rotated while the API server calls: nobody notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams, PostParams};
use kubewright_testenv::Env;
use serde_json::json;
use tokio::task::JoinSet;

use super::super::secret::{RENEW_AFTER, read};
use super::jugs::{Jug, NAME, OldJug, jug, ready, served};
use crate::generate::webhook::secret_name;

/// What became of the calls, with how long those took that converted.
struct Load {
    calls: usize,
    failed: Vec<String>,
    conversions: Vec<Duration>,
}

/// Fifty calls a second, of both sorts, until `stop`.
async fn load(env: Env, stop: Arc<AtomicBool>) -> Load {
    let mut running = JoinSet::new();
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        tick.tick().await;
        number += 1;
        let env = env.clone();
        running.spawn(async move {
            let begun = Instant::now();
            if number % 2 == 0 {
                let dry = PostParams { dry_run: true, ..PostParams::default() };
                let made = env.api::<Jug>().create(&dry, &jug(&format!("dry-{number}"))).await;
                made.map(|_| None)
            } else {
                let found = env.api::<OldJug>().get("a").await;
                found.map(|_| Some(begun.elapsed()))
            }
        });
    }
    let mut load = Load { calls: 0, failed: Vec::new(), conversions: Vec::new() };
    for done in running.join_all().await {
        load.calls += 1;
        match done {
            Ok(took) => load.conversions.extend(took),
            Err(error) => load.failed.push(error.to_string()),
        }
    }
    load
}

#[kubewright_testenv::test(own)]
async fn a_rotation_under_fifty_calls_a_second_fails_none(env: Env) {
    let served = served().await;
    served.install(&env, None).await;
    let standing = served.keep(&env, Duration::from_secs(4));
    ready(&env, &standing).await;
    env.create(jug("a")).await;
    let secrets = env.api::<Secret>();
    let name = secret_name(NAME);
    let before = read(&secrets.get(&name).await.unwrap()).unwrap();

    let stop = Arc::new(AtomicBool::new(false));
    let loading = tokio::spawn(load(env.clone(), stop.clone()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let past = json!({"metadata": {"annotations": {RENEW_AFTER: "2020-01-01T00:00:00Z"}}});
    secrets.patch(&name, &PatchParams::default(), &Patch::Merge(past)).await.unwrap();
    let after = env
        .eventually("another certificate is served, and only it is trusted", async || {
            let secret = secrets.get(&name).await.map_err(|error| error.to_string())?;
            let kept = read(&secret).ok_or("unreadable")?;
            let is_over = kept.serving != before.serving && kept.authorities.len() == 1;
            if is_over { Ok(kept) } else { Err(format!("{} trusted", kept.authorities.len())) }
        })
        .await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    stop.store(true, Ordering::Relaxed);
    let Load { calls, failed, mut conversions } = loading.await.unwrap();
    assert_ne!(after.authorities, before.authorities);
    conversions.sort();
    let p99 = conversions[conversions.len() * 99 / 100];
    eprintln!(
        "{calls} calls, {} failed; a read that converts takes {:?}, p99 {p99:?} with the API server's part",
        failed.len(),
        conversions[conversions.len() / 2]
    );
    assert!(failed.is_empty(), "{} of {calls}: {:?}", failed.len(), failed.first());
    assert!(calls > 400, "{calls}");
}
