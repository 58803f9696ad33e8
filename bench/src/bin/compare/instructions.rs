//! How many instructions a pass takes that finds everything as it should be, counted by valgrind, which no
//! noise of the machine changes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use kubewright_bench::progress;
use kubewright_bench::report::measured::number;
use kubewright_bench::results::Subject;
use serde_json::json;

use crate::objects::Object;
use crate::rig::Rig;
use crate::session::Out;
use crate::wire;

/// Objects that are looked at in turns.
pub(crate) const OBJECTS: usize = 20;
/// Passes of the two runs, whose difference is what passes take.
const PASSES: [usize; 2] = [100, 500];
/// Each pass is over before the next begins, also fifty times slower than usual.
const PAUSE: Duration = Duration::from_millis(60);

pub(crate) async fn measure(rig: &Rig, out: &mut Out<'_>) -> anyhow::Result<()> {
    if let Err(error) = install() {
        progress(&format!("instructions are not counted: {error:#}"));
        return Ok(());
    }
    let objects = rig.create("cache", OBJECTS).await?;
    let mut first = rig.operator(Subject::Ours, "plain")?;
    rig.until_children(OBJECTS).await?;
    first.until_quiet().await?;
    first.stop().await?;
    let mut counts = Vec::new();
    for passes in PASSES {
        counts.push(run(rig, &objects, passes).await?);
    }
    let passes = PASSES[1] - PASSES[0];
    let per_pass = (counts[1] - counts[0]) / number(passes);
    out.add("instructions", "per_pass", per_pass);
    Ok(())
}

/// The instructions of a whole run with so many passes.
async fn run(rig: &Rig, objects: &[Object], passes: usize) -> anyhow::Result<f64> {
    let directory = rig.directory("counted")?;
    let counted = directory.join("callgrind.out");
    let file = format!("--callgrind-out-file={}", counted.display());
    let mut process = rig.ours_under(&["valgrind", "--tool=callgrind", &file], &directory)?;
    process.until_ready().await?;
    process.until_quiet().await?;
    for pass in 0..passes {
        let note = json!({"metadata": {"annotations": {"bench/pass": format!("{passes}-{pass}")}}});
        let call = wire::merge(objects[pass % objects.len()].path(), note.to_string());
        wire::send(&rig.client, call).await?.accepted()?;
        tokio::time::sleep(PAUSE).await;
    }
    process.until_quiet().await?;
    process.stop().await?;
    totals(&counted)
}

fn totals(file: &Path) -> anyhow::Result<f64> {
    let text = fs::read_to_string(file).context("valgrind has written nothing")?;
    let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(total.context("valgrind has not said how many")?.trim().parse()?)
}

/// Valgrind comes from the system's packages.
fn install() -> anyhow::Result<()> {
    let is_there =
        || Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_there() {
        progress("installing valgrind");
        let mut command = Command::new("apt-get");
        let status = command.args(["install", "--yes", "valgrind"]).stdout(Stdio::null()).status();
        ensure!(
            status.is_ok_and(|status| status.success()) && is_there(),
            "install valgrind first"
        );
    }
    Ok(())
}
