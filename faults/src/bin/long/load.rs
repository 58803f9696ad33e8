//! Large numbers: one busy cache, many bad ones, many objects of others, everything listed anew. Measured, and
//! compared with the same without.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use memcached_faults::oracle::isolated::{judge, percentile};
use memcached_faults::world::World;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::site::{Site, create};

/// Thousands of caches on two cores.
const LIMIT: Duration = Duration::from_mins(20);
/// How many changes are timed.
const PROBES: i32 = 200;
/// The first size of those that are timed without, and with: each has to be new.
const CLEAN: i32 = 1;
const BESIDE: i32 = CLEAN + PROBES;
/// Between two of them, and between two changes of a hot cache.
const PAUSE: Duration = Duration::from_millis(50);
/// Long enough for a rate per minute.
const MINUTE: Duration = Duration::from_mins(1);

/// How long it takes until changes of other caches are followed.
async fn probed(
    site: &Site,
    prefix: &str,
    count: usize,
    first: i32,
) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for (number, size) in (0..count).cycle().zip(first..first + PROBES) {
        times.push(site.followed(&format!("{prefix}-{number}"), size).await?);
        sleep(PAUSE).await;
    }
    Ok(times)
}

/// L3: one cache is changed 20 times a second, and the others do not notice.
pub(crate) async fn one_is_hot(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let site = Site::new(world).await?;
    site.create("quiet", count).await?;
    site.create("hot", 1).await?;
    site.settled(count + 1, LIMIT).await?;
    let clean = probed(&site, "quiet", count, CLEAN).await?;
    let writes = site.tally.writes();
    let hot = async {
        for number in 0.. {
            site.resize("hot-0", number % 50).await?;
            sleep(PAUSE).await;
        }
        anyhow::Ok(())
    };
    let began = Instant::now();
    let beside = tokio::select! {
        beside = probed(&site, "quiet", count, BESIDE) => beside?,
        hot = hot => anyhow::bail!("the hot one cannot be changed: {hot:?}"),
    };
    let (writes, took) = (site.tally.writes() - writes, began.elapsed());
    judge(&clean, &beside).map_err(anyhow::Error::msg)?;
    site.stands()?;
    Ok(format!(
        "{count} caches: p99 {:.0?} beside the hot one, {:.0?} without; {writes} writes in {took:.0?}",
        percentile(&beside, 99),
        percentile(&clean, 99),
    ))
}

/// L10: as many caches fail as do not. The good ones do not notice, and the bad ones cost little.
pub(crate) async fn half_fails(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let site = Site::new(world).await?;
    site.create("good", count).await?;
    site.settled(count, LIMIT).await?;
    let clean = probed(&site, "good", count, CLEAN).await?;
    create(&site.deployments(), (0..count).map(|number| foreign(&format!("bad-{number}")))).await?;
    site.create("bad", count).await?;
    let began = Instant::now();
    while site.count("False").await? < count {
        ensure!(began.elapsed() < LIMIT, "not all bad ones are told of");
        sleep(Duration::from_secs(1)).await;
    }
    let beside = probed(&site, "good", count, BESIDE).await?;
    judge(&clean, &beside).map_err(anyhow::Error::msg)?;
    sleep(MINUTE).await; // what is promised counts from the second minute of a failure on
    let requests = site.tally.all();
    sleep(MINUTE).await;
    let requests = site.tally.all() - requests;
    ensure!(requests <= 6 * count, "{requests} requests in a minute for {count} bad ones");
    site.stands()?;
    Ok(format!(
        "{count} good beside {count} bad ones: p99 {:.0?}, {:.0?} without; {requests} requests in a minute",
        percentile(&beside, 99),
        percentile(&clean, 99),
    ))
}

/// L6 and L2: all watches end with 410 and everything is listed again; then the operator is started anew.
pub(crate) async fn all_is_listed_again(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let site = Site::new(world).await?;
    site.create("many", count).await?;
    site.settled(count, LIMIT).await?;
    sleep(Duration::from_secs(5)).await;
    let running = &site.subject.running;
    let steady = running.memory().context("it has ended")?;
    let writes = site.tally.writes();
    running.forget_peak();
    let expired = site.subject.way.proxy.expire_watches();
    ensure!(expired >= 4, "{expired} watches");
    site.followed("many-0", 3).await?;
    sleep(Duration::from_secs(10)).await;
    let peak = running.peak().context("it has ended")?;
    ensure!(peak * 10 <= steady * 13, "{peak} KiB at most, {steady} KiB before");
    let writes = site.tally.writes() - writes;
    ensure!(writes <= 4, "{writes} writes, of which one Deployment and two statuses are due");
    let (writes, lists) = (site.tally.writes(), site.tally.lists());
    running.victim.kill();
    sleep(Duration::from_secs(30)).await;
    let (writes, lists) = (site.tally.writes() - writes, site.tally.lists() - lists);
    ensure!(writes == 0, "{writes} writes after a restart");
    ensure!(lists == expired, "{lists} lists of {expired} kinds after a restart");
    let followed = site.followed("many-0", 4).await?;
    site.stands()?;
    Ok(format!(
        "{count} caches: {steady} KiB before, {peak} KiB at most while {expired} kinds were listed; after a restart 0 writes, {lists} lists, and a change was followed after {followed:.1?}"
    ))
}

/// D9: all caches are deleted at once, and then as many others; the memory is that of before, within a tenth.
pub(crate) async fn all_are_deleted(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let mut told = Vec::new();
    for (flags, bound) in [(&[][..], 3 * count), (&["--finalizer=false"][..], count / 100 + 4)] {
        let mut more = vec!["--leader-elect=false".to_owned()];
        more.extend(flags.iter().map(ToString::to_string));
        let namespace = world.namespace("site").await?;
        let site = Site::on(world, world.way().await?, namespace, &[], &more)?;
        // What it has needed once it keeps: pools of threads and connections, and what a first object teaches it.
        made_and_deleted(&site, "first", 1).await?;
        let before = site.subject.running.memory().context("it has ended")?;
        for prefix in ["many", "more"] {
            let (after, writes) = made_and_deleted(&site, prefix, count).await?;
            ensure!(writes <= bound, "{writes} writes for {count} deletions, bound {bound}");
            told.push(format!("{flags:?} {writes} writes, {before} KiB before and {after} after"));
            ensure!(after * 10 <= before * 11, "{}", told.join("; "));
        }
        site.stands()?;
    }
    Ok(format!("{count} caches deleted at once: {}", told.join("; ")))
}

/// How much memory it has when all are gone, in KiB, and how many writes their end took.
async fn made_and_deleted(site: &Site, prefix: &str, count: usize) -> anyhow::Result<(u64, usize)> {
    site.create(prefix, count).await?;
    site.settled(count, LIMIT).await?;
    site.complete(count, LIMIT).await?;
    sleep(Duration::from_secs(3)).await; // two statuses of one cache may be a second apart
    let before = site.tally.writes();
    let all = (DeleteParams::background(), ListParams::default());
    site.caches().delete_collection(&all.0, &all.1).await?;
    let began = Instant::now();
    loop {
        let caches = site.caches().list_metadata(&all.1.clone().limit(1)).await?;
        let children = site.deployments().list_metadata(&all.1.clone().limit(1)).await?;
        if caches.items.is_empty() && children.items.is_empty() {
            break;
        }
        ensure!(began.elapsed() < LIMIT, "they do not go");
        sleep(Duration::from_secs(1)).await;
    }
    sleep(Duration::from_secs(5)).await;
    let memory = site.subject.running.memory().context("it has ended")?;
    Ok((memory, site.tally.writes() - before))
}

/// L5: others have many objects of the kinds that are watched, in the same namespace.
pub(crate) async fn others_have_much(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let site = Site::new(world).await?;
    site.create("own", 100).await?;
    site.settled(100, LIMIT).await?;
    sleep(Duration::from_secs(5)).await;
    let running = &site.subject.running;
    let before = running.memory().context("it has ended")?;
    let names = |number: usize| format!("foreign-{number}");
    let pods: Api<Pod> = Api::namespaced(world.client(), &site.namespace);
    let services: Api<Service> = Api::namespaced(world.client(), &site.namespace);
    create(&site.deployments(), (0..count).map(|number| foreign(&names(number)))).await?;
    create(&services, (0..count).map(|number| {
        json!({"metadata": {"name": names(number)}, "spec": {"clusterIP": "None", "selector": {"a": "b"}}})
    }))
    .await?;
    create(&pods, (0..count).map(|number| {
        json!({"metadata": {"name": names(number)}, "spec": {"containers": [{"name": "a", "image": "a"}]}})
    }))
    .await?;
    site.followed("own-0", 2).await?;
    sleep(Duration::from_secs(5)).await;
    let after = running.memory().context("it has ended")?;
    // A page of memory more or less is no growth of a program this small.
    ensure!(after <= before + before / 100 + 512, "{after} KiB, {before} KiB before");
    site.stands()?;
    Ok(format!("{count} objects of each of 3 kinds: {before} KiB before, {after} KiB after"))
}

/// A Deployment of somebody else.
fn foreign(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"replicas": 0,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}})
}
