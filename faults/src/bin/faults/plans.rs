//! Records, enumerates and carries out.

use std::path::Path;
use std::time::{Duration, Instant};

use memcached_faults::oracle::isolated::percentile;
use memcached_faults::plan::{Plan, Scenario};
use memcached_faults::report::{Verdict, carry_out, record, say, tell};
use memcached_faults::run::Patience;
use memcached_faults::world::World;

use crate::{Arguments, Outcome};

pub(crate) async fn plans(
    world: &World<'_>,
    arguments: &Arguments,
) -> anyhow::Result<Vec<Verdict>> {
    let started = Instant::now();
    let patience = Patience {
        converge: Duration::from_secs(arguments.converge),
        silence: Duration::from_secs(arguments.silence),
    };
    let mut given: Vec<Plan> = Vec::new();
    for file in &arguments.plan {
        given.push(serde_json::from_str(&std::fs::read_to_string(file)?)?);
    }
    let is_wanted = |scenario: &Scenario| {
        given.is_empty() || given.iter().any(|plan| plan.scenario == *scenario)
    };
    let short = Patience { silence: patience.silence.min(Duration::from_secs(10)), ..patience };
    let scenarios = Scenario::ALL.into_iter().filter(is_wanted);
    let recorded = scenarios.map(|scenario| record(world, scenario, short));
    let recorded = futures_util::future::try_join_all(recorded).await?;
    let mut plans = given;
    if plans.is_empty() {
        plans = spread(recorded.iter().map(|it| it.plans.clone()).collect());
    }
    plans.retain(|plan| plan.to_string().starts_with(&arguments.only));
    anyhow::ensure!(
        !plans.is_empty(),
        "no plan begins with {:?}: --list prints all",
        arguments.only
    );
    say(&format!("{} plans after {:.0?}", plans.len(), started.elapsed()));
    if arguments.list {
        for plan in &plans {
            say(&format!("{plan} {:?}", plan.target));
        }
        return Ok(Vec::new());
    }
    let verdicts = carry_out(world, &recorded, plans, patience, arguments.beside).await;
    say(&format!("plans after {:.0?}", started.elapsed()));
    Ok(verdicts)
}

/// Says which plans failed and keeps them in `directory`, and sums all up.
pub(crate) fn conclude(verdicts: &[Verdict], directory: &Path) -> anyhow::Result<Outcome> {
    tell(verdicts, directory)?;
    let (run, held) = (verdicts.len(), verdicts.iter().filter(|it| it.wrong.is_empty()).count());
    let fired = verdicts.iter().filter(|verdict| verdict.fired).count();
    let took: Vec<_> = verdicts.iter().filter_map(|verdict| verdict.took).collect();
    let soon = took.iter().filter(|took| **took <= Duration::from_secs(10)).count();
    let more = format!(
        "; {fired} faults came about; all as it should be {:.1?} (median), {:.1?} (99 %), {:.1?} (longest) after the act, {soon} within 10 s",
        percentile(&took, 50),
        percentile(&took, 99),
        percentile(&took, 100),
    );
    Ok(Outcome { what: "plans", run, held, more })
}

/// One of each scenario in turn, so that those which keep the built-in controllers busy are not all at once.
fn spread(mut scenarios: Vec<Vec<Plan>>) -> Vec<Plan> {
    let mut plans = Vec::new();
    for plans in &mut scenarios {
        plans.reverse();
    }
    while scenarios.iter().any(|plans| !plans.is_empty()) {
        plans.extend(scenarios.iter_mut().filter_map(Vec::pop));
    }
    plans
}
