//! The operator may be killed at any moment: the next one finishes what it left.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{memcached, repeats, until_none};
use memcached_e2e::deployed::{installation, requests, until_ready};
use memcached_e2e::image::Build;
use memcached_e2e::programs::Outside;
use serde_json::json;
use tokio::time::sleep;

const NAMES: usize = 6;
const MOST: i32 = 2;
const PAUSE: Duration = Duration::from_millis(40);

/// What there should be in the end, by name.
type Wanted = BTreeMap<String, i32>;

/// Whose uid owns what, by its name.
type Owners = BTreeMap<String, Option<String>>;

/// Does something to some cache: creates it, resizes it or deletes it.
async fn disturb(env: &Env, random: &mut Rng, wanted: &mut Wanted) {
    let api = env.api::<Memcached>();
    let (name, size) = (format!("c-{}", random.usize(..NAMES)), random.i32(0..=MOST));
    match wanted.get(&name) {
        None => match api.create(&PostParams::default(), &memcached(&name, size)).await {
            Ok(_) => drop(wanted.insert(name, size)),
            Err(kube::Error::Api(status)) if status.code == 409 => {} // the one before still goes
            Err(error) => panic!("{error}"),
        },
        Some(_) if random.u8(..4) == 0 => {
            api.delete(&name, &DeleteParams::default()).await.unwrap();
            wanted.remove(&name);
        }
        Some(_) => {
            let change = Patch::Merge(json!({"spec": {"size": size}}));
            api.patch(&name, &PatchParams::default(), &change).await.unwrap();
            wanted.insert(name, size);
        }
    }
}

/// An object's name, with the uid of the cache that owns it.
fn owned(object: &ObjectMeta) -> (String, Option<String>) {
    let owner = object.owner_references.iter().flatten().next();
    (object.name.clone().unwrap_or_default(), owner.map(|owner| owner.uid.clone()))
}

/// Waits until everything is as it should be, and nothing else is there.
async fn until_right(env: &Env, wanted: &Wanted) {
    let all = ListParams::default();
    let caches: Owners = env
        .eventually("the caches are those wanted", async || {
            let list = env.api::<Memcached>().list(&ListParams::default()).await;
            let list = list.map_err(|error| error.to_string())?.items;
            let is: Wanted = list.iter().map(|cache| (cache.name_any(), cache.spec.size)).collect();
            let uids = list.iter().map(|cache| (cache.name_any(), cache.uid())).collect();
            if is == *wanted { Ok(uids) } else { Err(format!("{is:?} and not {wanted:?}")) }
        })
        .await;
    for (name, size) in wanted {
        until_ready(env, name, *size).await;
    }
    env.eventually("nothing is left over", async || {
        let deployments = env.api::<Deployment>().list(&all).await.unwrap().items;
        let deployments: Owners = deployments.iter().map(|it| owned(&it.metadata)).collect();
        let services = env.api::<Service>().list(&all).await.unwrap().items;
        let services: Owners = services.iter().map(|it| owned(&it.metadata)).collect();
        let pods = env.api::<Pod>().list(&all).await.unwrap().items.len();
        let is_right = deployments == caches
            && services == caches
            && i32::try_from(pods) == Ok(wanted.values().sum());
        let state = || format!("{deployments:?} {services:?} {pods} pods for {wanted:?}");
        if is_right { Ok(()) } else { Err(state()) }
    })
    .await;
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn however_often_the_operator_is_killed_the_end_is_right(env: Env) {
    let operator = Outside::prepare(&env, &installation(Build::Shipped)).await.unwrap();
    let mut wanted = Wanted::new();
    let mut random = Rng::with_seed(5);
    let lives = repeats(10, 100);
    for _ in 0..lives {
        let mut process = operator.start().unwrap();
        let life = Duration::from_millis(random.u64(100..2000));
        let churn = async {
            let end = Instant::now() + life;
            while Instant::now() < end {
                disturb(&env, &mut random, &mut wanted).await;
                sleep(PAUSE).await;
            }
        };
        let death = async {
            sleep(life).await;
            process.kill().await // with SIGKILL
        };
        let ((), killed) = tokio::join!(churn, death);
        killed.unwrap();
    }
    let asked = requests(&env).len();
    assert!(asked > lives, "it did something in its {lives} lives: {asked} requests");
    let _process = operator.start().unwrap();
    until_right(&env, &wanted).await;
    println!("after {lives} kills and {asked} requests: {wanted:?}");
    env.api::<Memcached>()
        .delete_collection(&DeleteParams::default(), &ListParams::default())
        .await
        .unwrap();
    until_none(&env, "memcacheds,deployments,services,pods").await;
}
