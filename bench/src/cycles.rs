//! Starts and ends environments again and again, also by `kill -9` at a random moment, prints how
//! long it took, and compares the machine before and after: whatever is left behind is a failure.
//!
//! `cargo run -p kubewright-bench --bin cycles -- --control-plane 50 --nodes 10 --kill 10`

mod machine;
mod times;

use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_testenv::Environment;
use kubewright_testenv::progress::Progress;
use serde_json::json;

use machine::Machine;
use times::Times;

/// How long the keeper may take after its owner was killed.
const SETTLE: Duration = Duration::from_secs(20);

/// Starts and ends environments and looks for what is left.
#[derive(Parser)]
struct Arguments {
    /// Cycles of etcd and kube-apiserver, with a definition installed
    #[arg(long, default_value_t = 3)]
    control_plane: u32,
    /// Cycles with one node, and as many with two
    #[arg(long, default_value_t = 1)]
    nodes: u32,
    /// Cycles that end by `kill -9` of the owner at a random moment, every other one with two nodes
    #[arg(long, default_value_t = 2)]
    kill: u32,
    /// For the program itself: start an environment with this many nodes and hold it
    #[arg(long, hide = true)]
    hold: Option<u8>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(nodes) = arguments.hold {
        let _environment = Environment::builder().nodes(nodes).start().await?;
        std::future::pending::<()>().await;
    }
    warm_up(arguments).await?;
    let before = Machine::look()?;
    let mut times = Times::default();
    for _ in 0..arguments.control_plane {
        cycle(0, "control plane serves, definition installed", &mut times).await?;
    }
    for _ in 0..arguments.nodes {
        cycle(1, "one node Ready, cluster DNS answers", &mut times).await?;
        cycle(2, "two nodes Ready, cluster DNS answers", &mut times).await?;
    }
    for number in 0..arguments.kill {
        kill_cycle(if number % 2 == 0 { 2 } else { 0 }, &mut times)?;
    }
    let left = before.left_behind(SETTLE)?;
    let mut out = std::io::stdout().lock();
    write!(out, "{times}")?;
    if left.is_empty() {
        writeln!(out, "left behind: nothing")?;
    } else {
        writeln!(out, "left behind:\n  {}", left.join("\n  "))?;
    }
    ensure!(left.is_empty(), "{} things were left behind", left.len());
    Ok(())
}

/// Programs and images are made, packages installed and kernel modules loaded before the first look.
async fn warm_up(arguments: &Arguments) -> anyhow::Result<()> {
    let nodes = u8::from(arguments.nodes > 0 || arguments.kill > 0);
    Environment::builder().nodes(nodes).start().await?.stop().await?;
    Ok(())
}

async fn cycle(nodes: u8, what: &'static str, times: &mut Times) -> anyhow::Result<()> {
    let started = Instant::now();
    let environment =
        Environment::builder().nodes(nodes).progress(Progress::Silent).start().await?;
    environment.install(&[definition()?]).await?;
    times.add(what, started.elapsed());
    let stopping = Instant::now();
    environment.stop().await?;
    times.add(
        if nodes == 0 { "control plane torn down" } else { "nodes torn down" },
        stopping.elapsed(),
    );
    Ok(())
}

fn kill_cycle(nodes: u8, times: &mut Times) -> anyhow::Result<()> {
    let before = Machine::look()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--hold", &nodes.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut owner = command.spawn().context("cannot start the owner of an environment")?;
    let moment = Duration::from_millis(fastrand::u64(0..if nodes == 0 { 4_000 } else { 14_000 }));
    std::thread::sleep(moment);
    owner.kill()?;
    owner.wait()?;
    let killed = Instant::now();
    let left = before.left_behind(SETTLE)?;
    ensure!(
        left.is_empty(),
        "killed after {moment:?} with {nodes} nodes, left behind:\n  {}",
        left.join("\n  ")
    );
    times.add("cleaned up after kill -9", killed.elapsed());
    Ok(())
}

fn definition() -> anyhow::Result<CustomResourceDefinition> {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    Ok(serde_json::from_value(json!({
        "metadata": { "name": "widgets.bench.kubewright.dev" },
        "spec": {
            "group": "bench.kubewright.dev",
            "names": { "plural": "widgets", "kind": "Widget" },
            "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    }))?)
}
