//! The phases in which requests are counted, with a log of all of them, so apart from those in which time
//! is measured.

use std::time::{Duration, Instant};

use anyhow::ensure;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_bench::report::measured::number;
use kubewright_bench::requests::{Mark, Requests};
use kubewright_bench::results::Subject;

use crate::drift;
use crate::forgetful::forgetful;
use crate::objects::Object;
use crate::rig::Rig;
use crate::session::Out;
use crate::timing;

/// What an operator of this job keeps of the cluster. Ours looks at pods too, for its status.
const KINDS: [&str; 4] = ["memcacheds", "deployments", "services", "pods"];
/// How many drifts are counted.
const DRIFTS: usize = 100;
const RELIST_LIMIT: Duration = Duration::from_mins(3);

/// All of them, on one API server. Without `rest` those are left out that take minutes by their nature.
pub(crate) async fn all(
    rig: &Rig,
    objects: &[Object],
    rest: Option<Duration>,
    out: &mut Out<'_>,
    scratch: &mut Out<'_>,
) -> anyhow::Result<()> {
    let mark = rig.mark()?;
    let mut process = timing::backlog(rig, objects, scratch).await?;
    requests("counted", &rig.since(mark)?, objects.len(), out);

    let mark = rig.mark()?;
    timing::update(rig, objects, scratch).await?;
    process.until_quiet().await?;
    // Two changes of each object, and back: the one field of its child, and its status.
    let (changes, asked) = (2 * objects.len(), rig.since(mark)?);
    out.add("update", "writes_per_change", number(asked.writes()) / number(changes));
    conflicts("update", &asked, out);

    let mark = rig.mark()?;
    drift::one_by_one(rig, objects, DRIFTS).await?;
    process.until_quiet().await?;
    let asked = rig.since(mark)?;
    out.add("drift", "writes_per_drift", number(asked.writes()) / number(DRIFTS));
    conflicts("drift", &asked, out);
    process.stop().await?;

    let way = rig.disturbed().await?;
    let mark = rig.mark()?;
    let mut process = rig.operator_through(out.case.subject, "anew", &way.kubeconfig)?;
    process.until_ready().await?;
    process.until_quiet().await?;
    lists("restart", &rig.since(mark)?, out);
    if let Some(rest) = rest {
        steady(rig, &mut process, rest, out).await?;
    }
    let (mark, before) = (rig.mark()?, process.cpu()?);
    process.forget_peak()?;
    way.proxy.set_hook(forgetful(out.case.subject));
    progress(&format!("{} watches expired", way.proxy.expire_watches()));
    until_listed(rig, &mut process, mark).await?;
    lists("resync", &rig.since(mark)?, out);
    out.add("resync", "cpu_seconds", process.cpu()?.saturating_sub(before).as_secs_f64());
    out.add("resync", "peak_rss_mib", process.memory()?.peak);
    process.stop().await?;
    if rest.is_some() {
        failover(rig, objects, out).await?;
    }

    let mut process = rig.operator(out.case.subject, "deleting")?;
    process.until_ready().await?;
    process.until_quiet().await?;
    let mark = rig.mark()?;
    timing::delete(rig, &mut process, objects, scratch).await?;
    let asked = rig.since(mark)?;
    out.add("delete", "requests_per_object", number(asked.single()) / number(objects.len()));
    conflicts("delete", &asked, out);
    process.stop().await
}

/// What was asked, for each object.
fn requests(phase: &str, requests: &Requests, objects: usize, out: &mut Out<'_>) {
    let per_object = |requests: usize| number(requests) / number(objects);
    let events = requests.writes_to("events").len();
    out.add(phase, "requests_per_object", per_object(requests.single()));
    out.add(phase, "writes_per_object", per_object(requests.writes()));
    let statuses = requests.writes_to("memcacheds/status").len();
    out.add(phase, "status_writes_per_object", per_object(statuses));
    out.add(phase, "events_per_object", per_object(events));
    out.add(phase, "gets_per_object", per_object(requests.gets()));
    for (verb, number) in requests.counted(|record| record.verb.clone()) {
        out.add(phase, &format!("verb.{verb}"), per_object(number));
    }
    let codes = requests.counted(|record| record.code);
    for (code, times) in &codes {
        out.add(phase, &format!("code.{code}"), number(*times));
    }
    out.add(phase, "throttled", answered(requests, 429));
    conflicts(phase, requests, out);
}

/// Writes that were too late: what they build on had changed.
fn conflicts(phase: &str, requests: &Requests, out: &mut Out<'_>) {
    out.add(phase, "conflicts", answered(requests, 409));
}

fn answered(requests: &Requests, code: u16) -> f64 {
    let codes = requests.counted(|record| record.code);
    number(codes.get(&code).copied().unwrap_or(0))
}

/// What was read anew, and whether anything was written for it.
fn lists(phase: &str, requests: &Requests, out: &mut Out<'_>) {
    let lists: Vec<_> = KINDS.iter().map(|kind| requests.lists(kind).0).collect();
    out.add(phase, "writes", number(requests.writes()));
    conflicts(phase, requests, out);
    out.add(phase, "lists", number(lists.iter().sum()));
    out.add(phase, "list_kinds", number(lists.iter().filter(|lists| **lists > 0).count()));
}

async fn until_listed(rig: &Rig, process: &mut Process, mark: Mark) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        process.until_quiet().await?;
        let requests = rig.since(mark)?;
        if KINDS[..3].iter().all(|kind| requests.lists(kind).0 > 0) {
            return Ok(());
        }
        ensure!(began.elapsed() < RELIST_LIMIT, "not listed again: {}", requests.by_verb());
    }
}

/// Nothing happens.
async fn steady(
    rig: &Rig,
    process: &mut Process,
    rest: Duration,
    out: &mut Out<'_>,
) -> anyhow::Result<()> {
    progress(&format!("at rest for {rest:?}"));
    let (mark, before) = (rig.mark()?, process.cpu()?);
    tokio::time::sleep(rest).await;
    let minutes = rest.as_secs_f64() / 60.0;
    let spent = process.cpu()?.saturating_sub(before).as_secs_f64() * 1e3;
    let requests = rig.since(mark)?;
    progress(&format!("at rest: {}", requests.by_verb()));
    out.add("steady", "minutes", minutes);
    out.add("steady", "requests_per_minute", number(requests.count()) / minutes);
    out.add("steady", "writes", number(requests.writes()));
    let watches = if out.case.subject == Subject::Ours { KINDS.len() } else { KINDS.len() - 1 };
    out.add("steady", "watches", number(watches));
    out.add("steady", "cpu_ms_per_minute", spent / minutes);
    out.add("steady", "rss_mib", process.memory()?.now);
    Ok(())
}

/// The leader ends, once in good order and once not, and a Service is deleted right then.
async fn failover(rig: &Rig, objects: &[Object], out: &mut Out<'_>) -> anyhow::Result<()> {
    for (metric, killed) in [("stopped_ms", false), ("killed_ms", true)] {
        let mut leader = rig.operator(out.case.subject, "leader")?;
        leader.until_ready().await?;
        drift::deleted_service(rig, &objects[0]).await?; // it leads
        let mut standby = rig.operator(out.case.subject, "standby")?;
        standby.until_quiet().await?;
        let mark = rig.mark()?;
        if killed {
            leader.kill().await?;
        } else {
            leader.stop().await?;
        }
        let gap = drift::deleted_service(rig, &objects[1]).await?;
        out.add("failover", metric, gap.as_secs_f64() * 1e3);
        standby.until_quiet().await?;
        if killed {
            let asked = rig.since(mark)?;
            out.add("failover", "writes", number(asked.writes()));
            conflicts("failover", &asked, out);
        }
        standby.stop().await?;
    }
    Ok(())
}
