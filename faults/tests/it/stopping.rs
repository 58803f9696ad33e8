//! The end of an operator that is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_faults::history::counts;
use memcached_faults::label;
use rustix::process::Signal;
use tokio::time::sleep;

use crate::stage::Stage;

/// How long the write takes that is on its way.
const WRITE: Duration = Duration::from_secs(2);
/// What the operator may take to end; a lease that is not given back lasts three times as long.
const END: Duration = Duration::from_secs(5);

/// The first write of a Deployment is on its way for a while.
#[derive(Default)]
struct SlowWrite(AtomicBool);

impl Hook for SlowWrite {
    fn request(&self, asked: &Asked) -> RequestFault {
        let is_it = label::is_write(asked) && label::place(&asked.path).resource == "deployments";
        if is_it && !self.0.swap(true, Ordering::SeqCst) {
            return RequestFault::Delay(WRITE);
        }
        RequestFault::Pass
    }
}

#[kubewright_testenv::test]
async fn c3_a_write_on_its_way_is_finished_and_the_lease_given_back(env: Env) {
    let hook = Arc::new(SlowWrite::default());
    let stage = Stage::electing(&env, hook.clone()).await;
    stage.create("a", 1).await;
    stage
        .eventually("the write is on its way", async || {
            if hook.0.load(Ordering::SeqCst) { Ok(()) } else { Err("not yet".to_owned()) }
        })
        .await;
    let running = &stage.subject.running;
    assert!(running.victim.signal(Signal::TERM), "it runs");
    let told = Instant::now();
    while running.failures().is_empty() {
        assert!(told.elapsed() < END, "it still runs");
        sleep(Duration::from_millis(20)).await;
    }
    let ended = told.elapsed();
    assert_eq!(running.failures(), ["it ended by itself: exit status: 0"]);
    assert!(stage.deployments().get_opt("a").await.unwrap().is_some(), "the write was abandoned");
    // It is started again, as any container is, and leads at once.
    let began = Instant::now();
    stage.settled().await;
    assert!(began.elapsed() < END, "the lease was not given back: {:?}", began.elapsed());
    let counts = counts(&stage.world.history.of(&stage.namespace));
    assert!(counts.values().all(|count| count.creates == 1), "made twice: {counts:?}");
    eprintln!("it ended after {ended:.1?}, all as it should be {:.1?} later", began.elapsed());
}
