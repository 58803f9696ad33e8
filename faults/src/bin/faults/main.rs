//! `make faults`: the plans, the walk over the schema, the scenarios; in the end a line for each.

mod plans;
mod scenarios;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use kubewright_testenv::Environment;
use memcached_faults::report::{Verdict, say};
use memcached_faults::world::World;

use crate::scenarios::Outcomes;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Every fault for every write and event.
    Plans,
    /// Every leaf of the schema, with validation and without.
    Schema,
    /// The list of scenarios, and the tests of those that are short.
    Scenarios,
}

/// The operator under every fault.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// What to run [default: all].
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// One plan again, from its file.
    #[arg(long, value_name = "FILE")]
    plan: Vec<PathBuf>,
    /// Only plans whose id begins with this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// How many plans run side by side.
    #[arg(long, value_name = "COUNT", default_value = "48")]
    beside: usize,
    /// How long nothing may be written in the end, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    silence: u64,
    /// How long after a fault all is to be as it should be, in seconds.
    ///
    /// Dozens of operators and one API server on two cores need more than the 10 s that one of them gets.
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    converge: u64,
    /// Say which plans there are, and end.
    #[arg(long)]
    list: bool,
    /// Where failed plans are kept.
    #[arg(long, value_name = "DIRECTORY", default_value = "target/faults")]
    failed: PathBuf,
}

impl Arguments {
    fn wants(&self, part: Part) -> bool {
        let only_plans = !self.plan.is_empty() || !self.only.is_empty() || self.list;
        self.parts.contains(&part) || self.parts.is_empty() && (part == Part::Plans || !only_plans)
    }
}

/// What a part came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    what: &'static str,
    run: usize,
    held: usize,
    more: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let (arguments, started) = (Arguments::parse(), Instant::now());
    let outcomes = outcomes(&arguments).await?;
    for Outcome { what, run, held, more } in &outcomes {
        say(&format!("{what}: {run} run, {held} held{more}"));
    }
    say(&format!("after {:.0?}", started.elapsed()));
    let held = outcomes.iter().all(|outcome| outcome.run == outcome.held);
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn outcomes(arguments: &Arguments) -> anyhow::Result<Vec<Outcome>> {
    let (mut outcomes, mut seen) = (Vec::new(), Outcomes::default());
    if arguments.wants(Part::Plans) {
        let environment = Environment::builder().controllers().start().await?;
        let world = World::new(&environment).await?;
        let verdicts = plans::plans(&world, arguments).await;
        drop(world);
        environment.stop().await?;
        let verdicts = verdicts?;
        let held = |it: &Verdict| (it.plan.to_string(), it.wrong.is_empty());
        seen.plans = Some(verdicts.iter().map(held).collect());
        outcomes.push(plans::conclude(&verdicts, &arguments.failed)?);
    }
    if arguments.wants(Part::Schema) {
        outcomes.extend(schema::schema().await?);
    }
    if arguments.wants(Part::Scenarios) {
        seen.tests = tokio::task::spawn_blocking(scenarios::tests).await??;
        outcomes.push(scenarios::conclude(&seen));
    }
    Ok(outcomes)
}
