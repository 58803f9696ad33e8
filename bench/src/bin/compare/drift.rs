//! Drift: a child is deleted or changed, one at a time, and it is seen how long it stays so.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::objects::{Object, SIZE};
use crate::rig::Rig;
use crate::seen::{DEPLOYMENTS, Event, SERVICES, Seen, Watcher};
use crate::wire::{self, Call};

/// How many drifts are repaired at rest.
pub(crate) const TIMES: usize = 1000;
/// A repair that takes longer has not happened.
const LIMIT: Duration = Duration::from_mins(1);

/// Drifts of one object after the other: every other time a Service is deleted, else the replicas of a
/// Deployment are changed. Answers with the time from the drift to its repair, both as
/// seen by a client.
pub(crate) async fn one_by_one(
    rig: &Rig,
    objects: &[Object],
    times: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut services = Watcher::start(rig.client.clone(), SERVICES).await?;
    let mut deployments = Watcher::start(rig.client.clone(), DEPLOYMENTS).await?;
    let mut latencies = Vec::with_capacity(times);
    // One object again and again would be a fight, in which ours gives in for a while.
    let first = fastrand::usize(..objects.len());
    for number in 0..times {
        let object = &objects[(first + number) % objects.len()];
        let latency = if number % 2 == 0 {
            let is_drift = |seen: &Seen| seen.event == Event::Deleted;
            let is_repair = |seen: &Seen| seen.event == Event::Added;
            let call = wire::delete(object.below(SERVICES));
            drift(rig, object, call, &mut services, is_drift, is_repair).await
        } else {
            let is_drift = |seen: &Seen| seen.replicas == Some(SIZE + 5);
            let is_repair = |seen: &Seen| seen.replicas == Some(SIZE);
            let body = json!({"spec": {"replicas": SIZE + 5}}).to_string();
            let call = wire::merge(object.below(DEPLOYMENTS), body);
            drift(rig, object, call, &mut deployments, is_drift, is_repair).await
        };
        latencies.push(latency?);
    }
    Ok(latencies)
}

async fn drift(
    rig: &Rig,
    object: &Object,
    call: Call,
    watcher: &mut Watcher,
    is_drift: impl Fn(&Seen) -> bool,
    is_repair: impl Fn(&Seen) -> bool,
) -> anyhow::Result<Duration> {
    watcher.skip();
    wire::send(&rig.client, call).await?.accepted()?;
    let mut drifted = None;
    let repaired = async {
        loop {
            let seen = watcher.next().await?;
            if Object::of(&seen) != *object {
                continue;
            }
            match drifted {
                None if is_drift(&seen) => drifted = Some(seen.at),
                Some(since) if is_repair(&seen) => return Ok(seen.at - since),
                _ => {}
            }
        }
    };
    let limited = tokio::time::timeout(LIMIT, repaired).await;
    limited.with_context(|| format!("the drift of {object} is not repaired after {LIMIT:?}"))?
}

/// One drift, such as after a failover: how long until a deleted Service is there again, from now on.
pub(crate) async fn deleted_service(rig: &Rig, object: &Object) -> anyhow::Result<Duration> {
    let mut services = Watcher::start(rig.client.clone(), SERVICES).await?;
    let (is_drift, is_repair) =
        (|seen: &Seen| seen.event == Event::Deleted, |seen: &Seen| seen.event == Event::Added);
    drift(rig, object, wire::delete(object.below(SERVICES)), &mut services, is_drift, is_repair)
        .await
}
