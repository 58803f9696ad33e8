//! Shows what the benchmark found out: tables here, and a page with plots beside the results. Measures
//! nothing.
//!
//! `cargo run -p kubewright-bench --bin report -- bench/results/*.json`

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use kubewright_bench::progress;
use kubewright_bench::report::Report;
use kubewright_bench::results::Results;

/// Shows results of the benchmark, several runs as rounds of one.
#[derive(Parser)]
struct Arguments {
    /// What the benchmark wrote; README.md and the plots are written beside the first
    #[arg(required = true, value_name = "FILE")]
    results: Vec<PathBuf>,
}

fn main() -> ExitCode {
    kubewright_bench::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut results = Results::default();
    for file in &arguments.results {
        results.append(Results::read(file)?);
    }
    let report = Report::of(&results);
    let folder = arguments.results.first().and_then(|file| file.parent());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    report.write(folder)?;
    write!(std::io::stdout(), "{}", report.terminal)?;
    progress(&format!("written: {}", folder.join("README.md").display()));
    Ok(())
}
