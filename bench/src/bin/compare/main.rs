//! Ours, the same operator in Go, and the physical limit, side by side in one run: on fresh API servers,
//! one after the other, round by round. What was measured goes into a file after every step.
//!
//! `cargo run --release -p kubewright-bench --bin compare -- --objects 100`

mod counting;
mod drift;
mod forgetful;
mod instructions;
mod limit;
mod objects;
mod programs;
mod reactor;
mod recorded;
mod rig;
mod run;
mod seen;
mod session;
mod sizes;
mod starts;
mod timing;
mod wire;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use kubewright_bench::peer;
use kubewright_bench::programs::{Program, definition};
use kubewright_bench::progress;
use kubewright_bench::report::Report;
use kubewright_bench::results::{Profile, Results, Subject};

use programs::Programs;
use run::Run;

const OURS: Program =
    Program { package: "memcached-operator", flag: "--bin", name: "memcached-operator" };

/// Measures ours, the same operator in Go, and what the API server allows at most.
#[derive(Parser)]
struct Arguments {
    /// How many objects there are; may be repeated. From 1,000 on all phases are run, below only the backlog
    #[arg(long, value_name = "COUNT", default_values_t = [100, 1_000])]
    objects: Vec<usize>,
    /// What etcd does before it answers; may be repeated
    #[arg(long, value_enum, default_values = ["no-fsync"])]
    profile: Vec<Etcd>,
    /// How often everything whose time is measured is repeated
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// For how long each operator is watched at rest; 0 leaves that out, and the failover
    #[arg(long, value_name = "MINUTES", default_value_t = 5)]
    rest: u32,
    /// Only these operators; all if none is named
    #[arg(long, value_enum)]
    operator: Vec<Named>,
    /// Only these parts; all if none is named
    #[arg(long, value_enum)]
    part: Vec<Part>,
    /// Where the figures go
    #[arg(long, value_name = "FILE", default_value = "bench/results/bench.json")]
    output: PathBuf,
    /// A binary of ours that is there already; else it is built
    #[arg(long, value_name = "FILE")]
    ours: Option<PathBuf>,
}

/// An operator that is measured.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Named {
    /// The memcached operator, as it ships
    Ours,
    /// The same in Go, with one worker
    GoStock,
    /// The same in Go, with as many workers as ours
    GoTuned,
}

impl From<Named> for Subject {
    fn from(named: Named) -> Self {
        match named {
            Named::Ours => Self::Ours,
            Named::GoStock => Self::GoStock,
            Named::GoTuned => Self::GoTuned,
        }
    }
}

/// What etcd does.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Etcd {
    /// It waits for the disk, as in production
    Durable,
    /// It does not, as in test environments
    NoFsync,
}

/// What can be measured by itself.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// Sizes of programs and images
    Sizes,
    /// Starts with an empty cluster
    Start,
    /// Only how long a backlog takes, with its limit
    Backlog,
    /// All that takes time, the backlog too
    Timing,
    /// Requests, and what happens at rest
    Counting,
    /// Instructions of a pass that changes nothing
    Instructions,
}

#[tokio::main]
async fn main() -> ExitCode {
    kubewright_bench::exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    progress("building the operators");
    let ours = arguments.ours.map_or_else(|| OURS.build(), Ok)?;
    let definition = definition(&ours)?;
    let programs = Programs {
        go: peer::build(kubewright_testenv::progress::Progress::Shown)?,
        ours,
        definition,
    };
    let mut parts = arguments.part;
    if parts.is_empty() {
        parts = vec![Part::Sizes, Part::Start, Part::Timing, Part::Counting, Part::Instructions];
    }
    let mut operators: Vec<_> = arguments.operator.into_iter().map(Subject::from).collect();
    if operators.is_empty() {
        operators = vec![Subject::Ours, Subject::GoStock, Subject::GoTuned];
    }
    let mut run = Run {
        programs,
        operators,
        parts,
        objects: arguments.objects,
        rounds: arguments.rounds,
        rest: arguments.rest,
        output: arguments.output,
        results: Results { machine: sizes::machine()?, ..Results::default() },
    };
    for profile in arguments.profile {
        let profile = match profile {
            Etcd::Durable => Profile::Durable,
            Etcd::NoFsync => Profile::NoFsync,
        };
        run.profile(profile).await?;
    }
    let report = Report::of(&run.results);
    report.write(run.output.parent().unwrap_or(Path::new(".")))?;
    write!(std::io::stdout(), "{}", report.terminal)?;
    let missed: Vec<_> = report.bars.iter().flat_map(|(_, bars)| bars.missed()).collect();
    anyhow::ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}
