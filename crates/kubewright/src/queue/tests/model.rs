//! The queue against a model of it: plain records that are searched from end to end.

use std::collections::BTreeMap;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Pseudo-random numbers that are the same in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)) >> 16) % limit
    }
}

#[derive(Clone, Copy)]
struct Wanted {
    due: Instant,
    priority: Priority,
    reason: &'static str,
    /// Its place among those of the same priority.
    order: (Instant, u64),
}

#[derive(Clone, Copy, Default)]
struct Record {
    wanted: Option<Wanted>,
    running: Option<Instant>,
    /// Goes away with the end of its pass.
    gone: bool,
    /// Its last pass failed and is to be repeated at this time.
    held: Option<Instant>,
    /// Its last pass failed for good.
    at_rest: bool,
    failures: u32,
    hurried: Option<Instant>,
}

struct Model {
    records: BTreeMap<Key, Record>,
    backoff: Backoff,
    steps: u64,
    high_in_a_row: u32,
    taken: u64,
}

impl Model {
    fn add(&mut self, key: &Key, due: Instant, priority: Priority, reason: &'static str) {
        let now = Instant::now();
        self.steps += 1;
        let record = self.records.entry(key.clone()).or_default();
        record.gone = false;
        let mut new = Wanted { due, priority, reason, order: (due.max(now), self.steps) };
        let ready = record.wanted.filter(|old| record.running.is_none() && old.due <= now);
        if let Some(old) = ready {
            if due <= now && priority > old.priority {
                record.wanted = Some(Wanted { due: old.due.min(due), ..new });
            }
            return;
        }
        if record.running.is_none() && (record.at_rest || record.held.is_some()) {
            let gate = record.hurried.map_or(due, |hurried| hurried + SECOND);
            new.due = due.max(if priority == High { gate } else { record.held.unwrap_or(due) });
            if priority == High && record.wanted.is_none_or(|old| new.due < old.due) {
                record.hurried = Some(new.due);
            }
        }
        if let Some(old) = record.wanted {
            if new.due >= old.due && priority <= old.priority {
                return;
            }
            new.due = new.due.min(old.due);
            new.priority = priority.max(old.priority);
        }
        new.order = (new.due.max(now), self.steps);
        record.wanted = Some(new);
    }

    fn ready(&self, priority: Priority) -> Vec<(&Key, Wanted)> {
        let waiting = self.records.iter().filter(|(_, record)| record.running.is_none());
        let wanted = waiting.filter_map(|(key, record)| Some((key, record.wanted?)));
        wanted
            .filter(|(_, wanted)| wanted.due <= Instant::now() && wanted.priority == priority)
            .collect()
    }

    fn take(&mut self) -> Option<Item> {
        let (high, low) = (self.ready(High), self.ready(Low));
        let from_low = high.is_empty() || (self.high_in_a_row >= 16 && !low.is_empty());
        let lane = if from_low { low } else { high };
        let (key, wanted) = lane.into_iter().min_by_key(|(_, wanted)| wanted.order)?;
        let key = key.clone();
        self.high_in_a_row = if from_low { 0 } else { self.high_in_a_row + 1 };
        self.taken += 1;
        let record = self.records.get_mut(&key)?;
        record.running = Some(Instant::now());
        record.wanted = None;
        Some(Item {
            waited: wanted.due.elapsed(),
            priority: wanted.priority,
            attempt: record.failures,
            reason: wanted.reason,
            key,
        })
    }

    fn finish(&mut self, key: &Key, finish: Finish) {
        let now = Instant::now();
        let Some(old) = self.records.remove(key) else { return };
        let finish = if old.gone { Finish::Done } else { finish };
        let mut new = Record::default();
        match finish {
            Finish::Done => {}
            Finish::After(delay) => self.add(key, now + delay, Low, "timer"),
            Finish::Retry => {
                let failures = old.failures + 1;
                let until = now + self.backoff.delay(key, failures);
                self.add(key, until, Low, "retry");
                new = Record { failures, held: Some(until), hurried: old.hurried, ..new };
            }
            Finish::Patience(delay) => {
                let failures = old.failures + 1;
                let until = now + delay.max(self.backoff.delay(key, failures));
                self.add(key, until, Low, "retry");
                let hurried = Some(until - SECOND);
                new = Record { failures, held: Some(until), hurried, ..new };
            }
            Finish::Wait => {
                let Record { failures, hurried, .. } = old;
                new = Record { failures, hurried, at_rest: true, ..new };
            }
        }
        if finish != Finish::Done {
            let wanted = self.records.remove(key).and_then(|record| record.wanted);
            self.records.insert(key.clone(), Record { wanted, ..new });
        }
        if let Some(again) = old.wanted {
            self.add(key, again.due, again.priority, again.reason);
        }
    }

    fn forget(&mut self, key: &Key) {
        let Some(record) = self.records.get_mut(key) else { return };
        let wanted = record.wanted.filter(|wanted| wanted.due <= Instant::now());
        let running = record.running;
        *record = Record { wanted, running, gone: running.is_some(), ..Record::default() };
        if wanted.is_none() && running.is_none() {
            self.records.remove(key);
        }
    }

    fn stats(&self, retries: u64) -> QueueStats {
        let (low, high) = (self.ready(Low).len(), self.ready(High).len());
        let times = || self.records.values().filter_map(|record| Some(record.running?.elapsed()));
        QueueStats {
            depth_low: low,
            depth_high: high,
            adds: self.taken + (low + high) as u64,
            retries,
            unfinished: times().sum(),
            longest: times().max().unwrap_or_default(),
        }
    }

    /// Every object is in one table, and in a second one if it is ready, delayed or running.
    fn entries(&self) -> usize {
        let placed = |record: &&Record| record.wanted.is_some() || record.running.is_some();
        self.records.len() + self.records.values().filter(placed).count()
    }
}

/// Does the same at random to a queue and to a model, and compares after every step.
async fn compare(seed: u64, steps: u32) -> u64 {
    let mut random = Random(seed);
    let backoff = Backoff::new(millis(1 << random.below(13)));
    let queue = Queue::new(backoff.clone());
    let records = BTreeMap::new();
    let mut model = Model { records, backoff, steps: 0, high_in_a_row: 0, taken: 0 };
    for step in 0..steps {
        let key = key(random.below(40));
        let priority = if random.below(3) == 0 { Low } else { High };
        let reason = ["one", "two", "three"][usize::try_from(random.below(3)).unwrap()];
        match random.below(100) {
            0..35 => {
                queue.add(key.clone(), priority, reason);
                model.add(&key, Instant::now(), priority, reason);
            }
            35..45 => {
                let delay = millis(random.below(300));
                queue.add_after(key.clone(), delay, priority, reason);
                model.add(&key, Instant::now() + delay, priority, reason);
            }
            45..70 => assert_eq!(ready(&queue), model.take(), "seed {seed}, step {step}"),
            70..88 => {
                let mut running = queue.running();
                running.sort();
                if let Some((key, _)) = running.first() {
                    let delay = millis(random.below(100));
                    let patience = Finish::Patience(delay);
                    let after = Finish::After(delay);
                    let finish = [Finish::Done, after, Finish::Retry, patience, Finish::Wait]
                        [usize::try_from(random.below(5)).unwrap()];
                    queue.finish(key, finish);
                    model.finish(key, finish);
                }
            }
            88..91 => {
                queue.forget(&key);
                model.forget(&key);
            }
            _ => advance(millis(random.below(40) * (1 + 20 * (random.below(8) / 7)))).await,
        }
        let stats = queue.stats();
        assert_eq!(stats, model.stats(stats.retries), "seed {seed}, step {step}");
        assert_eq!(entries(&queue), model.entries(), "seed {seed}, step {step}");
    }
    model.taken
}

#[tokio::test(start_paused = true)]
async fn the_queue_does_what_a_simple_model_of_it_does() {
    let mut taken = 0;
    for seed in 0..40 {
        taken += compare(seed, 5000).await;
    }
    assert!(taken > 20_000, "only {taken} items were taken");
}
