//! What came of many plans: each failed one with its id, what is wrong, and its file.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use crate::enumerate::plans;
use crate::oracle::{Clean, judge};
use crate::plan::{Plan, Scenario};
use crate::run::{Patience, duration, run};
use crate::world::World;

/// How many clean runs are recorded of each scenario.
const RECORDINGS: usize = 6;
/// How often a plan is tried whose fault did not come about.
const ATTEMPTS: usize = 3;

/// What came of one plan.
#[derive(Debug)]
pub struct Verdict {
    /// The plan.
    pub plan: Plan,
    /// Whether the fault came about.
    pub fired: bool,
    /// What is wrong.
    pub wrong: Vec<String>,
    /// From the act until all was as it should be, without the time that the fault lasts.
    pub took: Option<Duration>,
}

/// What a scenario comes to, and its plans.
pub struct Recorded {
    /// Which.
    pub scenario: Scenario,
    /// Without a fault.
    pub clean: Clean,
    /// All.
    pub plans: Vec<Plan>,
}

/// Records a scenario, without a fault.
pub async fn record(
    world: &World<'_>,
    scenario: Scenario,
    patience: Patience,
) -> anyhow::Result<Recorded> {
    let runs = (0..RECORDINGS).map(|_| run(world, scenario, None, patience));
    let runs = futures_util::future::try_join_all(runs).await?;
    let clean = Clean::of(&runs)
        .map_err(|wrong| anyhow::anyhow!("{} without a fault: {wrong}", scenario.name()))?;
    for run in &runs {
        let wrong = judge(scenario, None, run, &clean, patience);
        anyhow::ensure!(wrong.is_empty(), "{} without a fault: {wrong:#?}", scenario.name());
    }
    let recordings: Vec<_> = runs.iter().map(|run| run.recording.clone()).collect();
    Ok(Recorded { scenario, clean, plans: plans(scenario, &recordings) })
}

/// Runs plans, so many side by side, and says what came of each.
pub async fn carry_out(
    world: &World<'_>,
    recorded: &[Recorded],
    plans: Vec<Plan>,
    patience: Patience,
    beside: usize,
) -> Vec<Verdict> {
    let total = plans.len();
    let runs = plans.into_iter().map(|plan| {
        let clean = recorded.iter().find(|it| it.scenario == plan.scenario).map(|it| &it.clean);
        verdict(world, plan, clean, patience)
    });
    let mut verdicts = Vec::new();
    let mut runs = stream::iter(runs).buffer_unordered(beside);
    while let Some(verdict) = runs.next().await {
        if !verdict.wrong.is_empty() {
            say(&format!("FAILED {}: {}", verdict.plan, verdict.wrong.join("\n    ")));
        }
        verdicts.push(verdict);
        if verdicts.len() % 50 == 0 {
            say(&format!("{} of {total}", verdicts.len()));
        }
    }
    verdicts.sort_by(|one, other| one.plan.cmp(&other.plan));
    verdicts
}

async fn verdict(
    world: &World<'_>,
    plan: Plan,
    clean: Option<&Clean>,
    patience: Patience,
) -> Verdict {
    let mut attempt = 1;
    loop {
        let observed = run(world, plan.scenario, Some(&plan), patience).await;
        let (fired, wrong, took) = match (observed, clean) {
            (Ok(run), Some(clean)) => {
                let wrong = judge(plan.scenario, Some(plan.fault), &run, clean, patience);
                let lasts = duration(plan.fault);
                (run.fired, wrong, run.converged.ok().map(|took| took.saturating_sub(lasts)))
            }
            (Ok(_), None) => (false, vec!["its scenario was not recorded".to_owned()], None),
            (Err(error), _) => (false, vec![format!("it could not be run: {error:#}")], None),
        };
        if fired || !wrong.is_empty() || attempt == ATTEMPTS {
            return Verdict { plan, fired, wrong, took };
        }
        attempt += 1;
    }
}

/// Says which plans failed and whose fault did not come about, and keeps the failed ones in `directory`.
pub fn tell(verdicts: &[Verdict], directory: &Path) -> anyhow::Result<()> {
    for verdict in verdicts.iter().filter(|verdict| !verdict.wrong.is_empty()) {
        std::fs::create_dir_all(directory)?;
        let file = directory.join(format!("{}.json", verdict.plan));
        std::fs::write(&file, serde_json::to_string_pretty(&verdict.plan)?)?;
        say(&format!("failed: {}\n    {}", verdict.plan, verdict.wrong.join("\n    ")));
        say(&format!("    again: make faults FAULTS=\"--plan {}\"", file.display()));
    }
    for verdict in verdicts.iter().filter(|it| !it.fired && it.wrong.is_empty()) {
        say(&format!("its fault did not come about: {}", verdict.plan));
    }
    Ok(())
}

/// One line for people.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
