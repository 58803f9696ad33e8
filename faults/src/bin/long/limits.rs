//! An operator with as little as a container may have.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use memcached_faults::world::World;
use tokio::time::sleep;

use crate::cgroup::Cgroup;
use crate::site::Site;

/// As it ships, in MiB.
const SHIPPED: u64 = 128;
/// Less than the program needs to begin.
const TOO_LITTLE: u64 = 4;
const LIMIT: Duration = Duration::from_mins(20);

/// C4: killed for want of memory at its first list, again and again; with the limit as it ships it gets through,
/// and a restart does too.
pub(crate) async fn too_little_memory(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let group = Cgroup::new("faults-memory")?;
    group.limit_memory(TOO_LITTLE)?;
    let namespace = world.namespace("site").await?;
    let flags = ["--leader-elect=false".to_owned()];
    let site = Site::on(world, world.way().await?, namespace, &group.command(), &flags)?;
    site.create("many", count).await?;
    sleep(Duration::from_secs(5)).await;
    let running = &site.subject.running;
    let ends = running.failures().len();
    ensure!(ends > 0, "it was not killed with {TOO_LITTLE} MiB");
    group.limit_memory(SHIPPED)?;
    let took = site.settled(count, LIMIT).await?;
    running.forget_peak();
    let before = running.failures().len();
    running.victim.kill();
    sleep(Duration::from_secs(10)).await;
    site.followed("many-0", 2).await?;
    let peak = running.peak().context("it has ended")?;
    let after = running.failures();
    ensure!(after.len() == before, "with {SHIPPED} MiB: {after:?}");
    Ok(format!(
        "killed {ends} times with {TOO_LITTLE} MiB; with {SHIPPED} MiB {count} caches after {took:.0?}, {peak} KiB at most after a restart"
    ))
}

/// L9: 50 thousandths of a processor, and the memory that it ships with.
pub(crate) async fn little_processor(world: &World<'_>, count: usize) -> anyhow::Result<String> {
    let group = Cgroup::new("faults-processor")?;
    group.limit_memory(SHIPPED)?;
    group.limit_processor(50)?;
    let namespace = world.namespace("site").await?;
    world.permit_lease(&namespace).await?;
    let flags = ["--leader-elect".to_owned(), format!("--leader-election-namespace={namespace}")];
    let site = Site::on(world, world.way().await?, namespace, &group.command(), &flags)?;
    site.create("slow", count).await?;
    let took = site.settled(count, LIMIT).await?;
    let one = site.followed("slow-0", 2).await?;
    site.stands()?; // who loses the lease ends
    Ok(format!("{count} caches after {took:.0?}, a change after {one:.1?}, the lease kept"))
}
