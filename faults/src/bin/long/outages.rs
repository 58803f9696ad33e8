//! Parts of the cluster that are away, halt or are slow for minutes.

use std::time::{Duration, Instant};

use anyhow::ensure;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use kubewright::cluster;
use memcached_faults::history::counts;
use memcached_faults::world::World;
use tokio::time::sleep;

use crate::RECOVERY;
use crate::scene::Scene;

/// E12: what every request, and every event, takes.
const SLOW: Duration = Duration::from_secs(5);

/// The longest pause of a watch, and 5 s for the work.
const RETURN: Duration = Duration::from_secs(35);
/// What is asked for something that fails, in each minute that has begun (V4).
const PER_MINUTE: usize = 6;
/// The end of one cache and the beginning of its namesake, told by statuses and events; who waits writes nothing.
const COMING_AND_GOING: usize = 12;
/// A watch that fails is begun again after 0.8 s, 1.6 s, and so on to 30 s.
const ATTEMPTS: usize = 6;

/// E9: watches that tell nothing but bookmarks lead to no list and no write.
pub(crate) async fn nothing_happens(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 0).await?; // a Deployment that waits for its pods has news after ten minutes
    scene.settled(RECOVERY).await?;
    sleep(Duration::from_secs(3)).await;
    let (lists, writes) = (scene.lists(), scene.writes());
    sleep(length).await;
    ensure!(scene.lists() == lists, "{} lists", scene.lists() - lists);
    ensure!(scene.writes() == writes, "{} writes", scene.writes() - writes);
    scene.stands()?;
    Ok(format!("0 lists and 0 writes in {length:.0?}"))
}

/// D10: nobody collects the children of one that is gone; its namesake waits for them to go.
pub(crate) async fn nobody_collects(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let Some(controllers) = world.environment.controller_manager() else {
        anyhow::bail!("there are no controllers");
    };
    controllers.kill().await?;
    let writes = scene.writes();
    scene.caches().delete("a", &DeleteParams::background()).await?;
    while scene.create("a", 2).await.is_err() {
        sleep(Duration::from_millis(100)).await;
    }
    sleep(length).await;
    let writes = scene.writes() - writes;
    ensure!(writes <= COMING_AND_GOING, "{writes} writes while it waited");
    controllers.start()?;
    let took = scene.settled(RECOVERY + length.min(Duration::from_mins(5))).await?;
    let created = counts(&world.history.of(&scene.namespace))["deployments/a"].creates;
    ensure!(created == 2, "its Deployment was made {created} times");
    scene.stands()?;
    Ok(format!(
        "{writes} writes while it waited, as it should be {took:.1?} after the collector was back"
    ))
}

/// E5: the API server halts with its sockets open.
pub(crate) async fn server_halts(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    world.environment.apiserver().pause();
    sleep(length).await;
    world.environment.apiserver().resume();
    world.environment.until_ready().await?;
    scene.resize("a", 2).await?;
    let took = scene.settled(RECOVERY).await?;
    scene.stands()?;
    Ok(format!("{took:.1?} after it was back"))
}

/// E1: the API server is killed and comes back.
pub(crate) async fn server_is_away(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let lists = scene.lists();
    world.environment.apiserver().kill().await?;
    sleep(length).await;
    world.environment.apiserver().start()?;
    world.environment.until_ready().await?;
    scene.resize("a", 2).await?;
    let ours = scene.served(RETURN).await?;
    let took = ours + scene.settled(RECOVERY).await?;
    scene.stands()?;
    let again = scene.lists_answered_since(lists);
    ensure!(again <= 4, "{again} lists of 4 kinds");
    Ok(format!(
        "served {ours:.1?} after it was back, with pods after {took:.1?}; {again} lists of 4 kinds"
    ))
}

/// E16: the API server knows nothing of our kind for a while.
pub(crate) async fn definition_is_away(
    world: &World<'_>,
    length: Duration,
) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 0).await?;
    scene.settled(RECOVERY).await?;
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let api: Api<DynamicObject> = Api::all_with(world.client(), &ApiResource::from_gvk(&kind));
    let name = "memcacheds.cache.example.com";
    api.delete(name, &DeleteParams::background()).await?;
    while api.get_opt(name).await?.is_some() {
        sleep(Duration::from_millis(100)).await;
    }
    let requests = scene.requests();
    sleep(length).await;
    let requests = scene.requests() - requests;
    let bound = ATTEMPTS + PER_MINUTE * usize::try_from(length.as_secs().div_ceil(60))?;
    ensure!(requests <= bound, "{requests} requests without the kind, bound {bound}");
    cluster::apply(&world.client(), "faults", &world.definitions(), &mut |_| {}).await?;
    let began = Instant::now();
    while scene.create("b", 0).await.is_err() {
        ensure!(began.elapsed() < RECOVERY, "the definition does not come back");
        sleep(Duration::from_millis(100)).await;
    }
    let took = scene.settled(RECOVERY).await?;
    scene.stands()?;
    Ok(format!(
        "{requests} requests in {length:.0?} without the kind, a cache had all {took:.1?} after it was back"
    ))
}

/// E12: every request takes 5 s. Work is done at that pace, and nobody loses the lease.
pub(crate) async fn server_is_slow(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 2).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let leader = scene.leader();
    scene.delay(SLOW);
    sleep(length / 2).await;
    let writes = scene.writes();
    scene.create("b", 1).await?;
    let took = scene.settled(RECOVERY * 2).await?;
    sleep(length / 2).await;
    ensure!(scene.leader() == leader, "another leads");
    let writes = scene.writes() - writes;
    // A finalizer, two children, and statuses that follow the pods; a storm would be dozens.
    ensure!(writes <= 12, "{writes} writes for one cache");
    scene.stands()?;
    scene.heal();
    Ok(format!(
        "a cache had all after {took:.1?} and {writes} writes; the leader stayed for {length:.0?}"
    ))
}
