//! Measures what an operator costs, on a real API server: memory, requests and computing time, beside
//! what they may be. A missed bar is a failure.
//!
//! `cargo run -p kubewright-bench --bin runtime -- --idle-minutes 2`

mod objects;
mod phases;
mod subject;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use kubewright_bench::bars::Bars;
use kubewright_bench::programs::{Program, definition};
use kubewright_bench::{conclude, megabytes, progress};

use phases::Phases;
use subject::Subject;

/// The size that the example may have, in MB.
const BINARY: f64 = 9.0;

/// Measures what an operator costs, and fails if that is more than it may be.
#[derive(Parser)]
struct Arguments {
    /// The operator that is measured
    #[arg(long, value_enum, default_value = "one-child")]
    subject: Subject,
    /// How many objects it looks after
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    objects: usize,
    /// How many objects the smaller backlog has; 0 leaves it out
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    backlog: usize,
    /// For how long it is watched while nothing happens; 0 leaves it out
    #[arg(long, value_name = "MINUTES", default_value_t = 10)]
    idle_minutes: u32,
    /// A binary of the operator that is there already; else it is built
    #[arg(long, value_name = "FILE")]
    operator: Option<PathBuf>,
    /// A binary of the example that is there already, for its size; else it is built
    #[arg(long, value_name = "FILE")]
    example: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    kubewright_bench::exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut bars = Bars::default();
    let build = |program: Program| {
        progress(&format!("building {}", program.name));
        program.build()
    };
    let example = arguments.example.map_or_else(|| build(Subject::Guestbook.program()), Ok)?;
    bars.at_most("binary of the example", megabytes(&example)?, BINARY, "MB");
    let program = arguments.operator.map_or_else(|| build(arguments.subject.program()), Ok)?;
    let definition = definition(&program)?;
    let phases = Phases { subject: arguments.subject, program, definition };
    if arguments.backlog > 0 {
        phases.backlog(arguments.backlog, &mut bars).await?;
    }
    let measured = phases.all(arguments.objects, arguments.idle_minutes, &mut bars).await;
    conclude(&bars, measured)
}
