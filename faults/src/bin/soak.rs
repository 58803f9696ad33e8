//! `make soak`: people change caches all the time, requests and events go wrong by chance, the operator is
//! killed now and then; in the end all is as it should be, nothing untrue was said, and memory has not grown.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Parser;
use fastrand::Rng;
use kubewright_testenv::Environment;
use kubewright_testenv::proxy::hook::{Asked, Event, EventFault, Hook, RequestFault};
use memcached_faults::churn::Churn;
use memcached_faults::label;
use memcached_faults::oracle::{News, truthful_history};
use memcached_faults::plan::Fault;
use memcached_faults::report::say;
use memcached_faults::script::{of_event, of_request};
use memcached_faults::world::World;
use tokio::time::sleep;

/// Churn, random faults and kills.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long.
    #[arg(long, value_name = "MINUTES", default_value = "10")]
    minutes: u64,
    /// Of which chance.
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    seed: u64,
    /// How many caches there are at most.
    #[arg(long, value_name = "COUNT", default_value = "20")]
    caches: usize,
}

/// One of so many requests and events goes wrong.
const ONE_OF: u32 = 25;
/// Between two kills, and between two looks at the memory.
const LIFE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_secs(5);
/// After the last fault.
const RECOVERY: Duration = Duration::from_mins(1);

/// Does anything to anybody, by chance.
struct Chance {
    random: Mutex<Rng>,
    on: Arc<AtomicBool>,
    faults: Arc<AtomicUsize>,
}

impl Chance {
    fn pick(&self, faults: &[Fault]) -> Option<Fault> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.on.load(Ordering::Relaxed) || random.u32(..ONE_OF) != 0 {
            return None;
        }
        self.faults.fetch_add(1, Ordering::Relaxed);
        random.choice(faults).copied()
    }
}

impl Hook for Chance {
    fn request(&self, asked: &Asked) -> RequestFault {
        if !label::is_write(asked) {
            return RequestFault::Pass;
        }
        self.pick(&Fault::OF_WRITES).map_or(RequestFault::Pass, of_request)
    }

    fn event(&self, _: &Asked, _: &Event) -> EventFault {
        self.pick(&Fault::OF_EVENTS).map_or(EventFault::Pass, of_event)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let environment = Environment::builder().controllers().start().await?;
    let world = World::new(&environment).await?;
    let breaks = soak(&world, &arguments).await;
    drop(world);
    environment.stop().await?;
    let breaks = breaks?;
    for sentence in &breaks {
        say(&format!("broken: {sentence}"));
    }
    say(&format!("invariant breaks: {}", breaks.len()));
    Ok(if breaks.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn soak(world: &World<'_>, arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let namespace = world.namespace("soak").await?;
    let (on, faults) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let random = Mutex::new(Rng::with_seed(arguments.seed));
    let chance = Chance { random, on: on.clone(), faults: faults.clone() };
    let flags = ["--leader-elect=false".to_owned(), "--max-backoff=10s".to_owned()];
    let subject = world.operator_behind(&namespace, &flags, |_| Arc::new(chance)).await?;
    let mut churn =
        Churn::new(world.client(), &namespace, arguments.caches, arguments.seed.wrapping_add(1));
    let (began, length) = (Instant::now(), Duration::from_secs(arguments.minutes * 60));
    let (mut killed, mut looked, mut kills) = (began, began, 0);
    let mut memory: Vec<(f64, f64)> = Vec::new();
    // Memory shows in a life that lasts: kills in the first third, then one life until the end.
    while began.elapsed() < length {
        churn.step().await?;
        if began.elapsed() < length / 3 && killed.elapsed() > LIFE {
            subject.running.victim.kill();
            (killed, kills) = (Instant::now(), kills + 1);
        }
        if looked.elapsed() > LOOK && began.elapsed() > length / 2 {
            looked = Instant::now();
            if let Some(now) = subject.running.memory() {
                memory.push((began.elapsed().as_secs_f64() / 60.0, kibibytes(now)));
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
    on.store(false, Ordering::Relaxed);
    let mut breaks = subject.running.failures();
    breaks.extend(churn.settled(RECOVERY).await.err());
    breaks.extend(truthful_history(&world.history.take(&namespace), News::Late));
    say(&format!(
        "{} minutes: {} changes, {} faults, {kills} kills",
        arguments.minutes,
        churn.changes(),
        faults.load(Ordering::Relaxed)
    ));
    let slope = slope(&memory);
    let last = memory.last().map_or(0.0, |(_, last)| *last);
    say(&format!(
        "memory: {:.1} MiB in the end, slope {slope:+.1} KiB/min in the last half",
        last / 1024.0
    ));
    Ok(breaks)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn kibibytes(value: u64) -> f64 {
    value as f64
}

/// Least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.iter().map(|_| 1.0).sum::<f64>();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (time, value) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|point| (point.0 - time) * (point.1 - value)).sum();
    let spread: f64 = points.iter().map(|point| (point.0 - time).powi(2)).sum();
    if spread > 0.0 { both / spread } else { 0.0 }
}
