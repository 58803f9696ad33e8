//! One run of one scenario, with a fault or without, and everything that was seen of it. Judges nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use http::Request;
use hyper::body::Bytes;
use serde_json::Value;
use tokio::time::sleep;

use crate::enumerate::Recording;
use crate::history::{Counts, Seen, counts};
use crate::plan::{Fault, Plan, Scenario};
use crate::scenario::User;
use crate::script::{LATE, SILENCE, Script, Sent, TAKEOVER};
use crate::state::{masked, objects};
use crate::world::{Subject, World};

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the end of the fault until all is as it should be.
    pub converge: Duration,
    /// How long there must be no write then.
    pub silence: Duration,
}

/// Before the user acts, nothing has been written for so long.
const CALM: Duration = Duration::from_millis(1500);
/// Nothing that is prepared takes longer.
const PREPARED: Duration = Duration::from_mins(1);
const LOOK: Duration = Duration::from_millis(100);
/// The kinds that the operator watches.
const WATCHES: usize = 4;

/// What was seen of a run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Whether the fault happened; true without one.
    pub fired: bool,
    /// From the act until all was as it should be, or what was not.
    pub converged: Result<Duration, String>,
    /// How long after that the last write was sent.
    pub trailing: Duration,
    /// How long after the last write was looked on.
    pub silent: Duration,
    /// What there was in the end, masked.
    pub end: Value,
    /// What happened to each object.
    pub counts: Counts,
    /// What was asked.
    pub sent: Vec<Sent>,
    /// When the user acted.
    pub acted: Instant,
    /// Every version of every object.
    pub history: Vec<Seen>,
    /// What the operator did since the act.
    pub recording: Recording,
    /// Ends that nobody brought about, and panics.
    pub failures: Vec<String>,
    /// The operator's memory in the end, in KiB.
    pub memory: u64,
    /// How many files and sockets it has open in the end.
    pub descriptors: usize,
    /// Where it was.
    pub namespace: String,
}

/// How long a fault lasts.
pub fn duration(fault: Fault) -> Duration {
    match fault {
        Fault::LeaderChange => TAKEOVER,
        Fault::Silence | Fault::Slow => SILENCE,
        Fault::Hide | Fault::Delay | Fault::Bookmarks => LATE,
        _ => Duration::ZERO,
    }
}

/// How long others take for their part: the namespace's controller looks again after a quarter of a minute
/// when it has found something with a finalizer.
fn of_others(scenario: Scenario) -> Duration {
    if scenario == Scenario::Namespace { Duration::from_secs(40) } else { Duration::ZERO }
}

/// Runs a scenario under a plan, or without a fault.
pub async fn run(
    world: &World<'_>,
    scenario: Scenario,
    plan: Option<&Plan>,
    patience: Patience,
) -> anyhow::Result<Observed> {
    let namespace = world.namespace(&format!("faults-{}", scenario.name())).await?;
    let (client, history) = (world.client(), &world.history);
    let user = User { client, namespace: namespace.clone(), history };
    let script = Script::new(plan.cloned());
    let subjects = start(world, &namespace, &script, plan).await?;
    user.prepare(scenario).await?;
    if scenario != Scenario::Create {
        until_calm(&user, &script).await?;
    }
    script.arm(older_lists(world, &script, plan).await?);
    let acted = Instant::now();
    let lasts = plan.map_or(Duration::ZERO, |plan| duration(plan.fault));
    let patience = Patience { converge: patience.converge + of_others(scenario), ..patience };
    let act = tokio::time::timeout(lasts + patience.converge, user.act(scenario));
    let converged = match act.await {
        Ok(done) => {
            done?;
            converge(&user, scenario, &script, acted, lasts, patience.converge).await
        }
        Err(_) => Err("what the user wanted to do could not be done in time".to_owned()),
    };
    let settled = Instant::now();
    until_silent(&script, settled, patience).await;
    let last = script.last_write().unwrap_or(acted);
    let end = masked(&objects(&world.client(), &namespace).await?);
    let history = world.history.take(&namespace);
    let failures: Vec<_> = subjects.iter().flat_map(|subject| subject.running.failures()).collect();
    Ok(Observed {
        fired: plan.is_none() || script.fired().is_some(),
        converged,
        trailing: last.saturating_duration_since(settled),
        silent: last.elapsed(),
        end,
        counts: counts(&history),
        sent: script.sent(),
        acted,
        history,
        recording: script.recording(),
        failures,
        memory: subjects.iter().filter_map(|subject| subject.running.memory()).max().unwrap_or(0),
        descriptors: subjects.iter().filter_map(|it| it.running.descriptors()).max().unwrap_or(0),
        namespace,
    })
}

/// One operator; two that compete where the leader is to change.
async fn start(
    world: &World<'_>,
    namespace: &str,
    script: &Arc<Script>,
    plan: Option<&Plan>,
) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    if plan.is_some_and(|plan| plan.fault == Fault::LeaderChange) {
        let home = world.namespace("faults-lease").await?;
        world.permit_lease(&home).await?;
        let arguments =
            ["--leader-elect".to_owned(), format!("--leader-election-namespace={home}")];
        for _ in 0..2 {
            subjects.push(world.operator(namespace, script, &arguments).await?);
        }
    } else {
        subjects.push(world.operator(namespace, script, &["--leader-elect=false".into()]).await?);
    }
    let started = Instant::now();
    while script.watched() < WATCHES {
        if started.elapsed() > PREPARED {
            bail!("the operator watches {} kinds only", script.watched());
        }
        sleep(LOOK).await;
    }
    Ok(subjects)
}

/// What the operator would get if it listed now, for the plan that gives it that later.
async fn older_lists(
    world: &World<'_>,
    script: &Script,
    plan: Option<&Plan>,
) -> anyhow::Result<HashMap<String, Bytes>> {
    let mut lists = HashMap::new();
    if plan.is_some_and(|plan| plan.fault == Fault::Stale) {
        for (path, query) in script.listed() {
            let request = Request::get(format!("{path}?{query}")).body(Vec::new())?;
            let list = world.client().request_text(request).await?;
            lists.insert(path, Bytes::from(list));
        }
    }
    Ok(lists)
}

/// Waits until what was prepared is there and the operator has nothing left to do.
async fn until_calm(user: &User<'_>, script: &Script) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let calm = script.last_write().is_some_and(|last| last.elapsed() > CALM);
        let state = if calm {
            user.is_over(Scenario::Create).await
        } else {
            Err("it still writes".to_owned())
        };
        if state.is_ok() {
            return Ok(());
        }
        if started.elapsed() > PREPARED {
            bail!("it could not be prepared: {state:?}");
        }
        sleep(LOOK).await;
    }
}

/// Waits until all is as it should be, at most `limit` from the end of the fault.
async fn converge(
    user: &User<'_>,
    scenario: Scenario,
    script: &Script,
    acted: Instant,
    lasts: Duration,
    limit: Duration,
) -> Result<Duration, String> {
    loop {
        // It may be as it should be before the fault has come about at all.
        let fault_over = script.fired().map_or(acted, |fired| fired + lasts);
        if fault_over > Instant::now() {
            sleep(LOOK).await;
            continue;
        }
        match user.is_over(scenario).await {
            Ok(()) => return Ok(acted.elapsed()),
            Err(state) if fault_over.elapsed() > limit => return Err(state),
            Err(_) => sleep(LOOK).await,
        }
    }
}

/// Looks on until nothing was written for long enough, or too much was for too long.
async fn until_silent(script: &Script, settled: Instant, patience: Patience) {
    loop {
        let last = script.last_write().map_or(settled, |last| last.max(settled));
        if last.elapsed() >= patience.silence || last > settled + patience.converge {
            return;
        }
        sleep(LOOK).await;
    }
}
