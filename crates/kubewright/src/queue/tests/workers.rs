//! Eight workers at once that come, go and fail at random.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::model::Random;
use super::*;

const OBJECTS: u64 = 40;

/// What the workers and the one who adds tell each other.
#[derive(Default)]
struct Record {
    /// Objects in the hands of a worker, and what it saw of each when it last began.
    seen: Mutex<HashMap<Key, (bool, u64)>>,
    /// The number of the last addition of each object.
    added: Mutex<HashMap<Key, u64>>,
    passes: AtomicU64,
    calm: AtomicBool,
}

impl Record {
    fn begin(&self, key: &Key) {
        let added = self.added.lock().unwrap().get(key).copied().unwrap_or_default();
        let mut seen = self.seen.lock().unwrap();
        let entry = seen.entry(key.clone()).or_default();
        assert!(!entry.0, "{key} runs twice at once");
        *entry = (true, added);
        self.passes.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self, key: &Key) {
        self.seen.lock().unwrap().get_mut(key).unwrap().0 = false;
    }

    fn all_seen(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        self.added
            .lock()
            .unwrap()
            .iter()
            .all(|(key, added)| seen.get(key) == Some(&(false, *added)))
    }
}

/// Takes items, gives up waiting now and then, and ends passes in every way.
async fn work(queue: Queue, record: Arc<Record>, mut random: Random) {
    loop {
        let patience = Duration::from_micros(random.below(3000));
        let Ok(next) = timeout(patience, queue.next()).await else { continue };
        let Some(item) = next else { return };
        record.begin(&item.key);
        match random.below(3) {
            0 => {}
            1 => tokio::task::yield_now().await,
            _ => sleep(Duration::from_micros(random.below(2000))).await,
        }
        record.end(&item.key);
        let finish = match random.below(5) {
            _ if record.calm.load(Ordering::Relaxed) => Finish::Done,
            0 => Finish::Retry,
            1 => Finish::Wait,
            2 => Finish::After(millis(random.below(20))),
            _ => Finish::Done,
        };
        queue.finish(&item.key, finish);
    }
}

/// Adds at random to eight workers; then every object must have been seen since it was last added.
async fn storm(additions: u64) {
    let queue = Queue::new(Backoff::new(millis(40)));
    let record = Arc::new(Record::default());
    let mut workers = JoinSet::new();
    for seed in 0..8 {
        workers.spawn(work(queue.clone(), Arc::clone(&record), Random(seed)));
    }
    let mut random = Random(99);
    for number in 1..=additions {
        let key = key(random.below(OBJECTS));
        record.added.lock().unwrap().insert(key.clone(), number);
        let priority = if random.below(2) == 0 { Low } else { High };
        match random.below(5) {
            0 => queue.add_after(key, millis(random.below(30)), priority, "timer"),
            _ => queue.add(key, priority, "change"),
        }
        match random.below(20) {
            0 => sleep(millis(random.below(3))).await,
            1..5 => tokio::task::yield_now().await,
            _ => {}
        }
    }
    record.calm.store(true, Ordering::Relaxed);
    let quiet = async {
        while !record.all_seen() || entries(&queue) > 0 {
            assert_eq!(workers.try_join_next().map(|joined| joined.unwrap()), None);
            for number in 0..OBJECTS {
                // Those at rest after a terminal failure stay in memory until they are forgotten.
                if record.all_seen() {
                    queue.forget(&key(number));
                }
            }
            sleep(millis(5)).await;
        }
    };
    timeout(Duration::from_mins(1), quiet).await.expect("an addition is lost");
    assert!(record.passes.load(Ordering::Relaxed) > additions / 20);
    queue.close();
    timeout(Duration::from_mins(1), workers.join_all()).await.expect("a worker sleeps on");
}

#[tokio::test(start_paused = true)]
async fn no_object_runs_twice_at_once_and_no_addition_is_lost_in_paused_time() {
    storm(40_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_object_runs_twice_at_once_and_no_addition_is_lost_on_several_threads() {
    storm(20_000).await;
}
