//! `make faults-long`: what lasts minutes by its nature, one after the other, each on a cluster that is as it
//! should be before and after.

mod scene;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Parser;
use kube::api::DeleteParams;
use kubewright_testenv::Environment;
use memcached_faults::history::counts;
use memcached_faults::report::say;
use memcached_faults::world::World;
use tokio::time::sleep;

use scene::Scene;

/// The longest pause of a watch, and what a busy machine needs.
const RECOVERY: Duration = Duration::from_mins(1);
/// A lease lasts 15 s from the last renewal, and a standby needs a moment to see it.
const CRASH: Duration = Duration::from_secs(17);

/// Long outages.
#[derive(Debug, Parser)]
struct Arguments {
    /// Everything lasts this part of its time.
    #[arg(long, value_name = "FACTOR", default_value = "1.0")]
    scale: f64,
    /// Only this one, such as E1.
    #[arg(long, value_name = "ID", default_value = "")]
    only: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let environment = Environment::builder().controllers().start().await?;
    let world = World::new(&environment).await?;
    let (mut run, mut held) = (0, 0);
    for id in ["E9", "C12", "C10", "D10", "E5", "E1"] {
        if !arguments.only.is_empty() && arguments.only != id {
            continue;
        }
        let began = Instant::now();
        let minutes = |count: u64| Duration::from_secs(count * 60).mul_f64(arguments.scale);
        let outcome = match id {
            "E9" => nothing_happens(&world, minutes(10)).await,
            "C12" => restarted(&world, minutes(10)).await,
            "C10" => leaders_die(&world, minutes(5)).await,
            "D10" => nobody_collects(&world, minutes(10)).await,
            "E5" => server_halts(&world, minutes(5)).await,
            _ => server_is_away(&world, minutes(10)).await,
        };
        run += 1;
        held += usize::from(outcome.is_ok());
        match outcome {
            Ok(figures) => say(&format!("{id} held after {:.0?}: {figures}", began.elapsed())),
            Err(error) => say(&format!("{id} FAILED after {:.0?}: {error:#}", began.elapsed())),
        }
    }
    say(&format!("long scenarios: {run} run, {held} held"));
    drop(world);
    environment.stop().await?;
    Ok(if run == held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// E9: watches that tell nothing but bookmarks lead to no list and no write.
async fn nothing_happens(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    sleep(Duration::from_secs(3)).await;
    let (lists, writes) = (scene.lists(), scene.writes());
    sleep(length).await;
    ensure!(scene.lists() == lists, "{} lists", scene.lists() - lists);
    ensure!(scene.writes() == writes, "{} writes", scene.writes() - writes);
    scene.stands()?;
    Ok(format!("0 lists and 0 writes in {length:.0?}"))
}

/// C12: twenty restarts cost no write and no change of a child.
async fn restarted(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
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
async fn leaders_die(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 3).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let (began, mut kills, mut longest) = (Instant::now(), 0, Duration::ZERO);
    while began.elapsed() < length {
        scene.kill(scene.leader());
        kills += 1;
        scene.resize("a", 1 + kills % 2).await?;
        let took = scene.settled(CRASH + Duration::from_secs(5)).await?;
        longest = longest.max(took);
        sleep(Duration::from_secs(8)).await; // the successor has to write its lease, to be known as leader
    }
    let counts = counts(&world.history.of(&scene.namespace));
    ensure!(counts.values().all(|count| count.creates == 1), "made twice: {counts:?}");
    Ok(format!("{kills} leaders killed, the next had done its work after {longest:.1?} at most"))
}

/// D10: nobody collects the children of one that is gone; its namesake waits for them to go.
async fn nobody_collects(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let Some(controllers) = world.environment.controller_manager() else {
        anyhow::bail!("there are no controllers");
    };
    controllers.kill().await?;
    scene.caches().delete("a", &DeleteParams::background()).await?;
    while scene.create("a", 2).await.is_err() {
        sleep(Duration::from_millis(100)).await;
    }
    sleep(length).await;
    let writes = scene.writes();
    controllers.start()?;
    let took = scene.settled(RECOVERY + length.min(Duration::from_mins(5))).await?;
    let created = counts(&world.history.of(&scene.namespace))["deployments/a"].creates;
    ensure!(created == 2, "its Deployment was made {created} times");
    scene.stands()?;
    Ok(format!(
        "{writes} writes while it waited, as it should be {took:.1?} after the collector was back"
    ))
}

/// E5: the API server halts with its sockets open.
async fn server_halts(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    world.environment.apiserver().pause();
    sleep(length).await;
    world.environment.apiserver().resume();
    world.environment.until_ready().await?;
    scene.resize("a", 2).await?;
    let took = scene.settled(RECOVERY).await?;
    scene.stands()?;
    Ok(format!("{took:.1?} after it was back"))
}

/// E1: the API server is killed and comes back.
async fn server_is_away(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 1).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let lists = scene.lists();
    world.environment.apiserver().kill().await?;
    sleep(length).await;
    world.environment.apiserver().start()?;
    world.environment.until_ready().await?;
    scene.resize("a", 2).await?;
    let took = scene.settled(RECOVERY).await?;
    scene.stands()?;
    let again = scene.lists_answered_since(lists);
    ensure!(again <= 4, "{again} lists of 4 kinds");
    Ok(format!("{took:.1?} after it was back, {again} lists of 4 kinds"))
}
