//! `make faults-long`: what lasts minutes by its nature. What mostly waits does so side by side, each that
//! disturbs the whole cluster on one of its own; then what takes the whole machine, one after the other.

mod cgroup;
mod credentials;
mod flood;
mod limits;
mod load;
mod names;
mod outages;
mod restarts;
mod scene;
mod site;
mod tally;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use futures_util::future::join_all;
use kubewright_testenv::Environment;
use memcached_faults::report::say;
use memcached_faults::world::World;

/// The longest pause of a watch, 30 s, and as much again for the controllers that make pods, who have their own.
const RECOVERY: Duration = Duration::from_mins(1);

/// Those that wait: a cluster for each line.
const WAITING: [&[&str]; 6] =
    [&["E9", "C12", "C10", "E12", "E15", "E18"], &["D10"], &["E5"], &["E1"], &["E16"], &["E19"]];
/// Those that work.
const WORKING: [&str; 7] = ["L3", "L10", "L6", "C4", "L9", "L5", "D9"];

/// Long outages, and large numbers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Everything lasts this part of its time, and there is this part of everything.
    #[arg(long, value_name = "FACTOR", default_value = "1.0")]
    scale: f64,
    /// Only these, such as E1.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
}

impl Arguments {
    fn wanted(&self, ids: &[&'static str]) -> Vec<&'static str> {
        let is_wanted = |id: &&&str| self.only.is_empty() || self.only.iter().any(|it| it == **id);
        ids.iter().filter(is_wanted).copied().collect()
    }

    fn minutes(&self, count: u64) -> Duration {
        Duration::from_secs(count * 60).mul_f64(self.scale)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    fn count(&self, count: u32) -> usize {
        (f64::from(count) * self.scale).ceil() as usize
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let (arguments, began) = (Arguments::parse(), Instant::now());
    let mut outcomes = Vec::new();
    let groups = WAITING.map(|ids| waiting(arguments.wanted(ids), &arguments));
    for outcome in join_all(groups).await {
        outcomes.extend(outcome?);
    }
    outcomes.extend(working(arguments.wanted(&WORKING), &arguments).await?);
    let (run, held) = (outcomes.len(), outcomes.iter().filter(|held| **held).count());
    say(&format!("long scenarios: {run} run, {held} held; after {:.0?}", began.elapsed()));
    Ok(if run == held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Side by side on one cluster.
async fn waiting(ids: Vec<&'static str>, arguments: &Arguments) -> anyhow::Result<Vec<bool>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let environment = Environment::builder().controllers().start().await?;
    let world = World::new(&environment).await?;
    let held = join_all(ids.into_iter().map(|id| told(id, &world, arguments))).await;
    drop(world);
    environment.stop().await?;
    Ok(held)
}

/// One after the other, where nobody keeps logs, nor makes pods where nothing is to be collected.
async fn working(ids: Vec<&'static str>, arguments: &Arguments) -> anyhow::Result<Vec<bool>> {
    let mut held = Vec::new();
    for id in ids {
        let builder = Environment::builder().unaudited();
        let builder = if id == "D9" { builder.controllers() } else { builder };
        let environment = builder.start().await?;
        let world = World::unwatched(&environment).await?;
        held.push(told(id, &world, arguments).await);
        drop(world);
        environment.stop().await?;
    }
    Ok(held)
}

async fn told(id: &'static str, world: &World<'_>, arguments: &Arguments) -> bool {
    let began = Instant::now();
    let outcome = Box::pin(run(id, world, arguments)).await;
    match &outcome {
        Ok(figures) => say(&format!("{id} held after {:.0?}: {figures}", began.elapsed())),
        Err(error) => say(&format!("{id} FAILED after {:.0?}: {error:#}", began.elapsed())),
    }
    outcome.is_ok()
}

async fn run(id: &str, world: &World<'_>, arguments: &Arguments) -> anyhow::Result<String> {
    let (minutes, count) = (|count| arguments.minutes(count), |number| arguments.count(number));
    match id {
        "E1" => outages::server_is_away(world, minutes(10)).await,
        "E5" => outages::server_halts(world, minutes(5)).await,
        "E9" => outages::nothing_happens(world, minutes(10)).await,
        "E12" => outages::server_is_slow(world, minutes(5)).await,
        "E15" => credentials::keys_are_replaced(world).await,
        "E16" => outages::definition_is_away(world, minutes(1)).await,
        "E18" => {
            let clock = credentials::clock_is_late(world).await?;
            Ok(format!("{clock}; {}", names::name_is_not_found(world).await?))
        }
        "E19" => flood::others_flood(world, minutes(2)).await,
        "C4" => limits::too_little_memory(world, count(10_000)).await,
        "C10" => restarts::leaders_die(world, minutes(5)).await,
        "C12" => restarts::restarted(world, minutes(10)).await,
        "D9" => load::all_are_deleted(world, count(1_000)).await,
        "D10" => outages::nobody_collects(world, minutes(10)).await,
        "L3" => load::one_is_hot(world, count(1_000)).await,
        "L5" => load::others_have_much(world, count(50_000)).await,
        "L6" => load::all_is_listed_again(world, count(10_000)).await,
        "L9" => limits::little_processor(world, count(200)).await,
        "L10" => load::half_fails(world, count(5_000)).await,
        _ => anyhow::bail!("there is no {id}"),
    }
}
