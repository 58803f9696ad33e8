//! How long it takes from the change of an object to the change of its Deployment, as a client sees it
//! that changes the one and watches the other.

use std::time::Instant;

use kubewright_bench::bars::Bars;
use kubewright_bench::durations::Durations;

use crate::installed::Installed;
use crate::watched::{Watched, Which};

/// In milliseconds.
const CHANGE: f64 = 50.0;
const NAME: &str = "changed";

/// Changes one cache, one time after the other; others may be there.
pub(crate) async fn measure(
    installed: &Installed,
    times: usize,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    let objects = installed.objects();
    let mut deployment = Watched::start(objects.deployments(), Which::Named(NAME)).await?;
    objects.create(NAME, 0).await?;
    deployment.until("there is a Deployment", |found| !found.is_empty()).await?;
    let mut durations = Durations::default();
    for size in (1..=9).cycle().take(times) {
        let began = Instant::now();
        objects.resize(NAME, size).await?;
        let changed = deployment.until("the Deployment is changed", |found| {
            let spec = found.get(NAME).and_then(|deployment| deployment.spec.as_ref());
            spec.and_then(|spec| spec.replicas) == Some(size)
        });
        changed.await?;
        durations.add(began.elapsed());
    }
    bars.at_most("change to Deployment: median", durations.within(50), CHANGE, "ms");
    bars.note("change to Deployment: 99 of 100 within", format!("{:.2} ms", durations.within(99)));
    objects.delete(NAME).await
}
