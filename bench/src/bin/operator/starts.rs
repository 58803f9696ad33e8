//! How long it takes from the start of the process to the first write of its first pass.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use kubewright::Clock;
use kubewright_bench::bars::Bars;
use kubewright_bench::durations::Durations;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_testenv::Environment;

use crate::installed::Installed;
use crate::objects::is;
use crate::watched::Which;

/// In milliseconds.
const START: f64 = 100.0;

pub(crate) async fn measure(program: &Path, times: usize, bars: &mut Bars) -> anyhow::Result<()> {
    let installed = Installed::start(Environment::builder(), program).await?;
    let (mut alone, mut elected) = (Durations::default(), Durations::default());
    for number in 0..times {
        let name = format!("alone-{number}");
        alone.add(start(&installed, &name, || installed.operator(&[])).await?);
        // The lease is free: the one before gave it back.
        let name = format!("elected-{number}");
        elected.add(start(&installed, &name, || installed.elected(&[])).await?);
    }
    progress(&format!("{times} starts each"));
    for (way, durations) in [("without election", alone), ("with a free lease", elected)] {
        let what = format!("start to first write, {way}");
        bars.at_most(format!("{what}: median"), durations.within(50), START, "ms");
        bars.note(format!("{what}: longest"), format!("{:.2} ms", durations.within(100)));
    }
    installed.stop("start", bars).await
}

/// Starts with one cache that nobody has looked at yet.
async fn start(
    installed: &Installed,
    name: &str,
    operator: impl Fn() -> anyhow::Result<Process>,
) -> anyhow::Result<Duration> {
    let objects = installed.objects();
    objects.create(name, 1).await?;
    let (mark, began) = (installed.mark()?, Clock::system().now_micro());
    let process = operator()?;
    objects.until(Which::Named(name), 1, |status| is(status, "Reconciled")).await?;
    let requests = installed.since(mark)?;
    let writes = requests.writes_to("memcacheds");
    let first = writes.iter().map(|record| record.received).min().context("nothing was written")?;
    process.stop().await?;
    Ok(first.duration_since(began).unsigned_abs())
}
