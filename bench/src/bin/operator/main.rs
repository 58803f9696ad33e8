//! Measures the memcached operator as it ships, on a real Kubernetes and with the permissions that it
//! prints for itself: its size, memory, start, quickness and requests, beside what they may be. A missed bar
//! is a failure.
//!
//! `cargo run -p kubewright-bench --bin operator`

mod changes;
mod installed;
mod memory;
mod objects;
mod pods;
mod sizes;
mod starts;
mod watched;
mod writes;
mod written;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use kubewright_bench::bars::Bars;
use kubewright_bench::programs::Program;
use kubewright_bench::{conclude, progress};

const OPERATOR: Program =
    Program { package: "memcached-operator", flag: "--bin", name: "memcached-operator" };

/// Measures the memcached operator, and fails if a figure is worse than it may be.
#[derive(Parser)]
struct Arguments {
    /// Few repeats and few objects, to try the program; the figures mean little
    #[arg(long)]
    quick: bool,
    /// Leave out what needs a node, and so root
    #[arg(long)]
    no_node: bool,
    /// A binary of the operator that is there already; else it is built
    #[arg(long, value_name = "FILE")]
    operator: Option<PathBuf>,
}

/// How much is measured.
struct Extent {
    objects: usize,
    changes: usize,
    starts: usize,
    rest: Duration,
    caches: usize,
}

const FULL: Extent =
    Extent { objects: 1000, changes: 200, starts: 20, rest: Duration::from_mins(1), caches: 10 };
const QUICK: Extent =
    Extent { objects: 50, changes: 20, starts: 3, rest: Duration::from_secs(5), caches: 2 };

#[tokio::main]
async fn main() -> ExitCode {
    kubewright_bench::exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let build = || {
        progress("building the operator");
        OPERATOR.build()
    };
    let program = arguments.operator.map_or_else(build, Ok)?;
    let extent = if arguments.quick { QUICK } else { FULL };
    let mut bars = Bars::default();
    let measured = measure(&program, &extent, !arguments.no_node, &mut bars).await;
    conclude(&bars, measured)
}

async fn measure(
    program: &Path,
    extent: &Extent,
    with_node: bool,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    sizes::measure(program, bars)?;
    starts::measure(program, extent.starts, bars).await?;
    writes::measure(program, extent.rest, bars).await?;
    memory::measure(program, extent, bars).await?;
    if with_node {
        pods::measure(program, extent.caches, bars).await?;
    }
    Ok(())
}
