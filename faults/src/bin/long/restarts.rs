//! Processes that die again and again.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use memcached_faults::history::counts;
use memcached_faults::world::World;
use tokio::time::sleep;

use crate::RECOVERY;
use crate::scene::Scene;

/// A lease lasts 15 s from the last renewal, and a standby needs a moment to see it.
const CRASH: Duration = Duration::from_secs(17);
/// Who leads lists everything, and then its work takes a request or two, and the controllers theirs.
const WORK: Duration = Duration::from_secs(5);

/// C12: twenty restarts cost no write and no change of a child.
pub(crate) async fn restarted(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 0).await?; // a Deployment that waits for its pods has news after ten minutes
    scene.settled(RECOVERY).await?;
    sleep(Duration::from_secs(3)).await;
    let writes = scene.writes();
    for _ in 0..20 {
        scene.kill(0);
        sleep(length / 20).await;
    }
    ensure!(scene.writes() == writes, "{} writes", scene.writes() - writes);
    scene.stands()?;
    Ok("20 restarts, 0 writes".to_owned())
}

/// C10: of three the one that leads is killed again and again.
pub(crate) async fn leaders_die(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 3).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let (began, mut kills) = (Instant::now(), 0);
    let (mut longest, mut longest_work) = (Duration::ZERO, Duration::ZERO);
    while began.elapsed() < length {
        let killed = Instant::now();
        scene.kill(scene.leader());
        kills += 1;
        scene.resize("a", 1 + kills % 2).await?;
        scene.settled(CRASH + WORK).await?;
        longest_work = longest_work.max(killed.elapsed());
        let led = scene.led_after(killed).context("nobody leads, and the work is done")?;
        longest = longest.max(led.duration_since(killed));
        ensure!(longest <= CRASH, "the next leads after {longest:.1?}");
        sleep(Duration::from_secs(8)).await; // the successor has to write its lease, to be known as leader
    }
    let counts = counts(&world.history.of(&scene.namespace));
    ensure!(counts.values().all(|count| count.creates == 1), "made twice: {counts:?}");
    Ok(format!(
        "{kills} leaders killed, the next led after {longest:.1?} and had done its work after {longest_work:.1?} at most"
    ))
}
