//! Starts with an empty cluster: what the operator has in memory, and how soon it does something.

use std::time::{Duration, Instant};

use kubewright_bench::durations::Durations;

use crate::objects::Object;
use crate::rig::{Rig, within_limit};
use crate::session::Out;
use crate::wire;

/// How often.
const TIMES: usize = 7;

pub(crate) async fn measure(rig: &Rig, out: &mut Out<'_>) -> anyhow::Result<()> {
    let mut process = rig.operator(out.case.subject, "idle")?;
    process.until_ready().await?;
    process.until_quiet().await?;
    out.add("start", "idle_rss_mib", process.memory()?.now);
    process.stop().await?;
    let (mut ready, mut first) = (Durations::default(), Durations::default());
    for number in 0..TIMES {
        let object = Object::new("start", number);
        wire::send(&rig.client, object.create()).await?.accepted()?;
        let (readied, wrote) = start(rig, &object, out).await?;
        ready.add(readied);
        first.add(wrote);
    }
    out.add("start", "ready_ms", ready.within(50));
    out.add("start", "first_write_ms", first.within(50));
    Ok(())
}

/// How long until it is ready, and until it has put its finalizer on an object that nobody has looked at.
async fn start(rig: &Rig, object: &Object, out: &Out<'_>) -> anyhow::Result<(Duration, Duration)> {
    let mut caches = rig.caches().await?;
    let began = Instant::now();
    let mut process = rig.operator(out.case.subject, "start")?;
    let written = async {
        loop {
            let seen = caches.next().await?;
            if seen.finalized && Object::of(&seen) == *object {
                return Ok(seen.at - began);
            }
        }
    };
    let (ready, written) = tokio::try_join!(process.until_ready(), within_limit("start", written))?;
    process.stop().await?;
    Ok((ready, written))
}
