//! What the operator asks of the API server for one object, from its beginning to its end, where no pods
//! run: the built-in controllers are there, and the size is 0.

use std::path::Path;
use std::time::Duration;

use kubewright_bench::bars::Bars;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_testenv::Environment;

use crate::installed::Installed;
use crate::objects::is;
use crate::watched::Which;
use crate::written::{Limits, Written};

/// What is created, and what is expected of it.
struct Case {
    phase: &'static str,
    /// Names differ: the children of an object that was deleted are still there for a while.
    name: &'static str,
    finalizers: usize,
}

const FINALIZED: Case = Case { phase: "new", name: "finalized", finalizers: 1 };
const PLAIN: Case = Case { phase: "new, no finalizer", name: "plain", finalizers: 0 };

pub(crate) async fn measure(program: &Path, rest: Duration, bars: &mut Bars) -> anyhow::Result<()> {
    let installed = Installed::start(Environment::builder().controllers(), program).await?;
    let mut process = installed.elected(&[])?;
    create(&installed, &mut process, &FINALIZED, bars).await?;
    progress(&format!("at rest for {rest:?}"));
    let mark = installed.mark()?;
    tokio::time::sleep(rest).await;
    bars.exactly(format!("at rest for {rest:?}: writes"), installed.since(mark)?.writes(), 0);
    let deleted = delete(&installed, &mut process, FINALIZED.name).await?;
    bars.no_more_than("deleted: requests", deleted, 3);
    process.stop().await?;
    let mut process = installed.elected(&["--finalizer=false"])?;
    create(&installed, &mut process, &PLAIN, bars).await?;
    let deleted = delete(&installed, &mut process, PLAIN.name).await?;
    bars.exactly("deleted, no finalizer: requests", deleted, 0);
    process.stop().await?;
    installed.stop("writes", bars).await
}

async fn create(
    installed: &Installed,
    process: &mut Process,
    case: &Case,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    let Case { phase, name, finalizers } = *case;
    process.until_ready().await?;
    process.until_quiet().await?;
    let mark = installed.mark()?;
    let objects = installed.objects();
    objects.create(name, 0).await?;
    let is_there = |status: &_| is(status, "Available") && is(status, "Reconciled");
    objects.until(Which::Named(name), 1, is_there).await?;
    process.until_quiet().await?;
    let requests = installed.since(mark)?;
    progress(&format!("{phase}: {}", requests.by_verb()));
    Written::of(&requests).compare(phase, &Limits { finalizers, statuses: 2 }, bars);
    bars.exactly(format!("{phase}: reads of single objects"), requests.gets(), 0);
    Ok(())
}

/// Answers with how many requests that took.
async fn delete(installed: &Installed, process: &mut Process, name: &str) -> anyhow::Result<usize> {
    let mark = installed.mark()?;
    installed.objects().delete(name).await?;
    process.until_quiet().await?;
    let requests = installed.since(mark)?;
    progress(&format!("deleted: {}", requests.by_verb()));
    Ok(requests.single())
}
