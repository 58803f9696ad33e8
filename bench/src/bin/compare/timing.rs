//! The phases whose time is measured, without a log of requests.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use kubewright_bench::process::Process;
use kubewright_bench::report::measured::number;

use crate::drift;
use crate::objects::{Object, SIZE};
use crate::rig::{Rig, within_limit};
use crate::seen::{Event, Seen, Watcher};
use crate::session::{Out, Sampler};
use crate::wire;

/// How long objects are created at each rate.
const LIVE: Duration = Duration::from_secs(10);
/// How often one of many objects is changed.
const CHANGES: usize = 50;
/// A new object and the job that it causes: so many writes.
const WRITES_LIVE: f64 = 5.0;

/// Starts the operator with objects that nobody has looked at, and waits until it is done with them.
pub(crate) async fn backlog(
    rig: &Rig,
    objects: &[Object],
    out: &mut Out<'_>,
) -> anyhow::Result<Process> {
    let mut caches = rig.caches().await?;
    let began = Instant::now();
    let mut process = rig.operator(out.case.subject, "first")?;
    let sampler = Sampler::start(&process);
    let mut done = HashSet::new();
    let mut curve = vec![(0.0, 0.0)];
    let converged = async {
        while done.len() < objects.len() {
            let seen = caches.next().await?;
            if seen.is_converged() && done.insert(Object::of(&seen)) {
                let at = seen.at.duration_since(began).as_secs_f64();
                if curve.last().is_some_and(|(last, _)| at - last > 0.02)
                    || done.len() == objects.len()
                {
                    curve.push((at, number(done.len())));
                }
            }
        }
        rig.until_children(objects.len()).await
    };
    within_limit("backlog", converged).await?;
    let seconds = curve.last().map_or(0.0, |(at, _)| *at);
    process.until_quiet().await?;
    out.add("backlog", "seconds", seconds);
    out.add("backlog", "cpu_seconds", process.cpu()?.as_secs_f64());
    let memory = process.memory()?;
    out.add("backlog", "rss_mib", memory.now);
    out.add("backlog", "peak_rss_mib", memory.peak);
    out.curve("backlog", "converged", curve);
    out.curve("backlog", "rss_mib", sampler.finish().await?);
    Ok(process)
}

/// Creates objects at three rates. `limit` is how many writes per second the API server takes.
pub(crate) async fn live(rig: &Rig, limit: f64, out: &mut Out<'_>) -> anyhow::Result<()> {
    for (phase, rate) in
        [("live-10", 10.0), ("live-50", 50.0), ("live-80", 0.8 * limit / WRITES_LIVE)]
    {
        let mut caches = rig.caches().await?;
        let creating = create_at(rig, phase, rate, LIVE);
        let watching = async {
            let wanted = created(rate, LIVE);
            created_to_converged(&mut caches, wanted).await
        };
        let (created, latencies) =
            within_limit(phase, async { tokio::try_join!(creating, watching) }).await?;
        out.add(phase, "objects_per_second", number(created) / LIVE.as_secs_f64());
        out.latencies(phase, &latencies);
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few thousand at most"
)]
fn created(rate: f64, time: Duration) -> usize {
    (rate * time.as_secs_f64()) as usize
}

/// Creates objects at a fixed rate, however long each takes.
pub(crate) async fn create_at(
    rig: &Rig,
    prefix: &str,
    rate: f64,
    time: Duration,
) -> anyhow::Result<usize> {
    let (began, total) = (Instant::now(), created(rate, time));
    let mut sent = Vec::with_capacity(total);
    for place in 0..total {
        let due = began + Duration::from_secs_f64(number(place) / rate);
        tokio::time::sleep_until(due.into()).await;
        let (client, call) = (rig.client.clone(), Object::new(prefix, place).create());
        sent.push(tokio::spawn(
            async move { wire::send(&client, call).await?.accepted().map(|_| ()) },
        ));
    }
    for sent in sent {
        sent.await??;
    }
    Ok(total)
}

/// How long after its creation was seen each object was seen to be as it should be.
async fn created_to_converged(
    caches: &mut Watcher,
    wanted: usize,
) -> anyhow::Result<Vec<Duration>> {
    until_converged(caches, wanted, |seen| seen.event == Event::Added).await
}

/// How long after its change was seen each object was seen to be as it should be.
async fn changed_to_converged(
    caches: &mut Watcher,
    wanted: usize,
) -> anyhow::Result<Vec<Duration>> {
    let is_behind = |seen: &Seen| seen.observed.is_some_and(|observed| observed < seen.generation);
    until_converged(caches, wanted, is_behind).await
}

/// The time of each object from what `begins` says to its end.
async fn until_converged(
    caches: &mut Watcher,
    wanted: usize,
    begins: impl Fn(&Seen) -> bool,
) -> anyhow::Result<Vec<Duration>> {
    let mut began = HashMap::new();
    let mut latencies = Vec::with_capacity(wanted);
    while latencies.len() < wanted {
        let seen = caches.next().await?;
        if begins(&seen) {
            began.entry(Object::of(&seen)).or_insert(seen.at);
        } else if seen.is_converged()
            && let Some(began) = began.remove(&Object::of(&seen))
        {
            latencies.push(seen.at - began);
        }
    }
    Ok(latencies)
}

/// Changes one field of all objects, and then of one of them again and again.
pub(crate) async fn update(rig: &Rig, objects: &[Object], out: &mut Out<'_>) -> anyhow::Result<()> {
    let mut caches = rig.caches().await?;
    let began = Instant::now();
    let changing = rig.each(objects, |object| object.resize(SIZE + 1));
    let watching = changed_to_converged(&mut caches, objects.len());
    let ((), latencies) =
        within_limit("update", async { tokio::try_join!(changing, watching) }).await?;
    out.add("update", "seconds", began.elapsed().as_secs_f64());
    out.latencies("update", &latencies);

    let mut latencies = Vec::new();
    let changed = &objects[..CHANGES.min(objects.len())]; // once each: the same size again is no change
    for object in changed {
        wire::send(&rig.client, object.resize(SIZE)).await?.accepted()?;
        latencies.extend(within_limit("update-one", changed_to_converged(&mut caches, 1)).await?);
    }
    out.latencies("update-one", &latencies);
    rig.each(objects, |object| object.resize(SIZE)).await?;
    within_limit("update", changed_to_converged(&mut caches, objects.len() - changed.len()))
        .await?;
    Ok(())
}

/// Drift, at rest and while objects are created.
pub(crate) async fn drifts(rig: &Rig, objects: &[Object], out: &mut Out<'_>) -> anyhow::Result<()> {
    let latencies = drift::one_by_one(rig, objects, drift::TIMES).await?;
    out.latencies("drift", &latencies);
    let begun = Instant::now();
    let load = Duration::from_secs(12);
    let creating = create_at(rig, "load", 50.0, load);
    let drifting = async {
        let mut latencies = Vec::new();
        while begun.elapsed() + Duration::from_secs(2) < load {
            latencies.extend(drift::one_by_one(rig, objects, 20).await?);
        }
        anyhow::Ok(latencies)
    };
    let (_, latencies) = tokio::try_join!(creating, drifting)?;
    out.latencies("drift-loaded", &latencies);
    Ok(())
}

/// Ends the operator and starts it again, with everything as it should be.
pub(crate) async fn restart(
    rig: &Rig,
    process: Process,
    out: &mut Out<'_>,
) -> anyhow::Result<Process> {
    process.stop().await?;
    let mut process = rig.operator(out.case.subject, "second")?;
    let ready = process.until_ready().await?;
    process.until_quiet().await?;
    out.add("restart", "ready_ms", ready.as_secs_f64() * 1e3);
    out.add("restart", "cpu_seconds", process.cpu()?.as_secs_f64());
    let memory = process.memory()?;
    out.add("restart", "rss_mib", memory.now);
    out.add("restart", "peak_rss_mib", memory.peak);
    Ok(process)
}

/// Deletes all objects, and waits until the last is gone.
pub(crate) async fn delete(
    rig: &Rig,
    process: &mut Process,
    objects: &[Object],
    out: &mut Out<'_>,
) -> anyhow::Result<()> {
    let mut caches = rig.caches().await?;
    let began = Instant::now();
    let deleting = rig.each(objects, |object| wire::delete(object.path()));
    let watching = async {
        let mut gone = 0;
        while gone < objects.len() {
            gone += usize::from(caches.next().await?.event == Event::Deleted);
        }
        Ok(())
    };
    within_limit("delete", async { tokio::try_join!(deleting, watching) }).await?;
    out.add("delete", "seconds", began.elapsed().as_secs_f64());
    process.until_quiet().await?;
    out.add("delete", "rss_mib", process.memory()?.now);
    Ok(())
}
