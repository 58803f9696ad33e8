//! Caches that go: in every way that Kubernetes has, and while they are being made.

use std::sync::Arc;

use kube::api::{DeleteParams, PropagationPolicy};
use kubewright_testenv::Env;
use memcached_faults::state::objects;

use crate::stage::{Nothing, Stage, eventually};

async fn deployments(stage: &Stage<'_>) -> usize {
    let objects = objects(&stage.world.client(), &stage.namespace).await.unwrap();
    objects["deployments"].as_array().map_or(0, Vec::len)
}

async fn delete_each_way(env: &Env, flags: &[&str]) {
    let stage = Stage::new(env.environment(), Arc::new(Nothing), flags).await;
    for (policy, left) in [
        (PropagationPolicy::Foreground, 0),
        (PropagationPolicy::Background, 0),
        (PropagationPolicy::Orphan, 1),
    ] {
        let name = format!("{policy:?}").to_lowercase();
        stage.create(&name, 1).await;
        stage.settled().await;
        let parameters =
            DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
        stage.caches().delete(&name, &parameters).await.unwrap();
        eventually(&format!("{name}: the cache goes"), async || {
            let found = stage.caches().get_opt(&name).await.map_err(|error| error.to_string())?;
            if found.is_none() { Ok(()) } else { Err("it is there".to_owned()) }
        })
        .await;
        eventually(&format!("{name}: {left} Deployments are left"), async || {
            let is = deployments(&stage).await;
            if is == left { Ok(()) } else { Err(format!("{is} are")) }
        })
        .await;
    }
    stage.stands();
}

#[kubewright_testenv::test(controllers)]
async fn d1_children_go_with_their_cache_or_stay_as_they_are_told_to(env: Env) {
    delete_each_way(&env, &[]).await;
}

#[kubewright_testenv::test(controllers)]
async fn d1_without_a_finalizer_too(env: Env) {
    delete_each_way(&env, &["--finalizer=false"]).await;
}

#[kubewright_testenv::test(controllers)]
async fn d5_a_cache_that_is_deleted_while_it_is_made_leaves_nothing(env: Env) {
    let stage = Stage::new(env.environment(), Arc::new(Nothing), &[]).await;
    for number in 0..20_u64 {
        let name = format!("short-{number}");
        stage.create(&name, 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(number * 3)).await;
        stage.caches().delete(&name, &DeleteParams::background()).await.unwrap();
    }
    eventually("nothing is left", async || {
        let objects = objects(&stage.world.client(), &stage.namespace).await;
        let objects = objects.map_err(|error| format!("{error:#}"))?;
        let left = |resource: &str| objects[resource].as_array().map_or(0, Vec::len);
        match (left("memcacheds"), left("deployments"), left("services")) {
            (0, 0, 0) => Ok(()),
            left => Err(format!("{left:?}")),
        }
    })
    .await;
    stage.stands();
}
