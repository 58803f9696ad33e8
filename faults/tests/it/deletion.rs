//! Caches that go: in every way that Kubernetes has, and while they are being made.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use hyper::body::Bytes;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PropagationPolicy};
use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_api::v1alpha1::Memcached;
use memcached_faults::label;
use memcached_faults::state::objects;

use crate::stage::{Nothing, Stage, has_time};

async fn deployments(stage: &Stage<'_>) -> usize {
    let objects = objects(&stage.world.client(), &stage.namespace).await.unwrap();
    objects["deployments"].as_array().map_or(0, Vec::len)
}

async fn delete_each_way(env: &Env, flags: &[&str]) {
    let stage = Stage::new(env, Arc::new(Nothing), flags).await;
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
        stage
            .eventually(&format!("{name}: the cache goes"), async || {
                let found =
                    stage.caches().get_opt(&name).await.map_err(|error| error.to_string())?;
                if found.is_none() { Ok(()) } else { Err("it is there".to_owned()) }
            })
            .await;
        stage
            .eventually(&format!("{name}: {left} Deployments are left"), async || {
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
    let stage = Stage::new(&env, Arc::new(Nothing), &[]).await;
    for number in 0..20_u64 {
        let name = format!("short-{number}");
        stage.create(&name, 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(number * 3)).await;
        stage.caches().delete(&name, &DeleteParams::background()).await.unwrap();
    }
    stage
        .eventually("nothing is left", async || {
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

/// D9 with forty, and the operator's finalizer on: a status, an event and the finalizer each.
async fn delete_many(env: &Env, flags: &[&str]) -> Vec<String> {
    const MANY: usize = 40;
    let counted = Counting::default();
    let stage = Stage::new(env, Arc::new(counted.clone()), flags).await;
    let names: Vec<_> = (0..MANY).map(|number| format!("many-{number}")).collect();
    for name in &names {
        stage.create(name, 0).await;
    }
    stage.settled().await;
    complete(&stage).await;
    let before = counted.calm().await;
    let parameters = (DeleteParams::background(), ListParams::default());
    stage.caches().delete_collection(&parameters.0, &parameters.1).await.unwrap();
    stage
        .eventually("all are gone", async || {
            let objects = objects(&stage.world.client(), &stage.namespace).await;
            let objects = objects.map_err(|error| format!("{error:#}"))?;
            let left = ["memcacheds", "deployments", "services"]
                .map(|resource| objects[resource].as_array().map_or(0, Vec::len));
            if left == [0, 0, 0] { Ok(()) } else { Err(format!("{left:?}")) }
        })
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    stage.stands();
    counted.0.lock().unwrap().split_off(before)
}

/// Waits until every cache has heard of its Deployment that it is complete. The Deployments' controller says so when it
/// comes to it, which on a busy machine is long after the cache is reconciled, and each word of it is one more status.
async fn complete(stage: &Stage<'_>) {
    stage
        .eventually("all are complete", async || {
            let caches = stage.caches().list(&ListParams::default()).await;
            let caches = caches.map_err(|error| error.to_string())?;
            let is_complete = |cache: &&Memcached| {
                let conditions = cache.status.iter().flat_map(|status| &status.conditions);
                conditions
                    .into_iter()
                    .any(|it| it.type_ == "Progressing" && it.reason == "Complete")
            };
            let left = caches.items.iter().filter(|cache| !is_complete(cache)).count();
            if left == 0 { Ok(()) } else { Err(format!("{left} are not")) }
        })
        .await;
}

/// Two statuses of one cache are at most a second apart.
const CALM: std::time::Duration = std::time::Duration::from_secs(3);

/// Notes writes.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<String>>>);

impl Counting {
    /// How many there were when none came any more: statuses follow the Deployments for a while.
    async fn calm(&self) -> usize {
        let mut before = usize::MAX;
        loop {
            let now = self.0.lock().unwrap().len();
            if now == before {
                return now;
            }
            before = now;
            tokio::time::sleep(CALM).await;
        }
    }
}

impl Hook for Counting {
    fn request(&self, asked: &Asked) -> RequestFault {
        if label::is_write(asked) {
            self.0.lock().unwrap().push(label::write(asked));
        }
        RequestFault::Pass
    }
}

#[kubewright_testenv::test(controllers)]
async fn d9_many_caches_deleted_at_once_cost_three_requests_each_or_none(env: Env) {
    // The garbage collector may take a minute to know a kind, twice; too long for the quick part.
    if !has_time("D9") {
        return;
    }
    let with = delete_many(&env, &[]).await;
    let without = delete_many(&env, &["--finalizer=false"]).await;
    eprintln!("{} writes for 40 deletions; without the finalizer {without:?}", with.len());
    assert!(with.len() <= 120, "{with:?}");
    // A status that was on its way may be among them; nothing is made for what is gone.
    assert!(without.len() <= 4, "{without:?}");
    assert!(without.iter().all(|write| write.ends_with("/status")), "{without:?}");
}

/// Notes what the API server forbids.
#[derive(Default)]
struct Forbidden(Mutex<Vec<String>>);

impl Hook for Forbidden {
    fn answered(&self, asked: &Asked, status: StatusCode, _: &Bytes) {
        if status == StatusCode::FORBIDDEN {
            self.0.lock().unwrap().push(label::write(asked));
        }
    }
}

#[kubewright_testenv::test(controllers)]
async fn d2_a_namespace_with_a_hundred_caches_goes_without_our_help(env: Env) {
    const MANY: usize = 100;
    if !has_time("D2 with a hundred caches") {
        return;
    }
    let hook = Arc::new(Forbidden::default());
    let stage = Stage::new(&env, hook.clone(), &[]).await;
    for number in 0..MANY {
        stage.create(&format!("many-{number}"), 0).await;
    }
    stage.settled().await;
    let namespaces: Api<Namespace> = Api::all(stage.world.client());
    namespaces.delete(&stage.namespace, &DeleteParams::background()).await.unwrap();
    let took = stage
        .eventually("the namespace is gone", async || {
            match namespaces.get_opt(&stage.namespace).await.map_err(|error| error.to_string())? {
                None => Ok(()),
                Some(namespace) => Err(format!("{:?}", namespace.status)),
            }
        })
        .await;
    let forbidden = hook.0.lock().unwrap().clone();
    eprintln!("gone after {took:?}, {} requests were forbidden", forbidden.len());
    assert!(forbidden.len() <= MANY, "{forbidden:#?}"); // each may learn of it by one
    stage.stands();
}
