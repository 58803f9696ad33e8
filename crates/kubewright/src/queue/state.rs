//! The moves of objects between ready, delayed, running and resting.
//!
//! Synchronous and without a clock of its own: every call says what time it is, and calls come in
//! the order of time. Each takes O(log n).
//!
//! ```text
//!            add                    take
//! (absent) ───────────────► Ready ────────► Running ──── Done ───► (absent)
//!     │ add_after             ▲               │ │
//!     └─────────► Delayed ────┘ due, or add   │ └─ Wait ─► Resting ─ add ─► Ready
//!                    ▲                        │
//!                    └ After, Retry, Patience ┘
//! ```

use std::collections::HashMap;
#[cfg(test)]
use std::time::Duration;

use tokio::time::Instant;

use super::delays::Delays;
use super::lanes::Lanes;
use super::object::{Failing, Object, Place, Request, Run};
use super::{Finish, Item, Priority, QueueStats, later};
use crate::backoff::Backoff;
use crate::key::Key;

/// Everything a queue knows.
pub(super) struct State {
    objects: HashMap<Key, Object>,
    /// Those in the hands of a worker, and since when.
    running: HashMap<Key, Instant>,
    lanes: Lanes,
    delays: Delays,
    backoff: Backoff,
    adds: u64,
    retries: u64,
    closed: bool,
}

impl State {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            objects: HashMap::new(),
            running: HashMap::new(),
            lanes: Lanes::default(),
            delays: Delays::default(),
            backoff,
            adds: 0,
            retries: 0,
            closed: false,
        }
    }

    /// Moves what is due to the lanes, in the order of time; before any other call.
    pub(super) fn promote(&mut self, now: Instant) {
        while let Some(key) = self.delays.pop_due(now) {
            if let Some(&Object { place: Place::Delayed { request, .. }, failing }) =
                self.objects.get(&key)
            {
                self.put(key, request, failing, now);
            }
        }
    }

    /// Somebody wants the object to be looked at.
    pub(super) fn add(&mut self, key: Key, request: Request, now: Instant) {
        if self.closed {
            return;
        }
        let Some(object) = self.objects.get_mut(&key) else {
            return self.put(key, request, None, now);
        };
        let (failing, granted) = object.grant(request);
        match object.place {
            Place::Running(run) => {
                let again = run.again.map_or(request, |first| first.merge(request));
                object.place = Place::Running(Run { again: Some(again), forgotten: false });
            }
            Place::Ready { ticket, request: waiting } => {
                if request.due <= now && request.priority > waiting.priority {
                    self.lanes.remove(ticket, waiting.priority);
                    let ticket = self.lanes.push(key, request.priority);
                    object.place = Place::Ready { ticket, request: waiting.merge(request) };
                }
            }
            Place::Delayed { slot, request: waiting } => {
                let merged = waiting.merge(granted);
                if merged != waiting {
                    self.delays.remove(slot);
                    self.put(key, merged, failing, now);
                }
            }
            Place::Resting => self.put(key, granted, failing, now),
        }
    }

    /// Hands out the object whose turn it is.
    pub(super) fn take(&mut self, now: Instant) -> Option<Item> {
        let key = self.lanes.pop()?;
        let object = self.objects.get_mut(&key)?;
        let Place::Ready { request, .. } = object.place else { return None };
        object.place = Place::Running(Run::default());
        self.running.insert(key.clone(), now);
        Some(Item {
            waited: now - request.due,
            priority: request.priority,
            attempt: object.failing.map_or(0, |failing| failing.count),
            reason: request.reason,
            key,
        })
    }

    /// A pass has ended.
    pub(super) fn finish(&mut self, key: &Key, finish: Finish, now: Instant) {
        let Some(&Object { place: Place::Running(run), failing }) = self.objects.get(key) else {
            return;
        };
        self.objects.remove(key);
        self.running.remove(key);
        if self.closed {
            return;
        }
        // Of an object that has gone, neither a delay nor a failure is kept.
        match if run.forgotten { Finish::Done } else { finish } {
            Finish::Done => {}
            Finish::After(delay) => {
                let request =
                    Request { due: later(now, delay), priority: Priority::Low, reason: "timer" };
                self.put(key.clone(), request, None, now);
            }
            Finish::Retry => {
                self.retries += 1;
                let count = failing.map_or(0, |failing| failing.count).saturating_add(1);
                let until = later(now, self.backoff.delay(key, count));
                let hurried = failing.and_then(|failing| failing.hurried);
                let request = Request { due: until, priority: Priority::Low, reason: "retry" };
                self.put(
                    key.clone(),
                    request,
                    Some(Failing { count, until: Some(until), hurried }),
                    now,
                );
            }
            Finish::Patience(delay) => {
                self.retries += 1;
                let count = failing.map_or(0, |failing| failing.count).saturating_add(1);
                let until = later(now, delay.max(self.backoff.delay(key, count)));
                let request = Request { due: until, priority: Priority::Low, reason: "retry" };
                self.put(key.clone(), request, Some(Failing::patient(count, until)), now);
            }
            Finish::Wait => {
                let count = failing.map_or(0, |failing| failing.count);
                let hurried = failing.and_then(|failing| failing.hurried);
                let failing = Some(Failing { count, until: None, hurried });
                self.objects.insert(key.clone(), Object { place: Place::Resting, failing });
            }
        }
        if let Some(again) = run.again {
            self.add(key.clone(), again, now);
        }
    }

    /// The object has gone.
    pub(super) fn forget(&mut self, key: &Key, now: Instant) {
        let Some(object) = self.objects.get_mut(key) else { return };
        object.failing = None;
        match &mut object.place {
            Place::Ready { .. } => {}
            Place::Running(run) => {
                run.again = run.again.filter(|again| again.due <= now);
                run.forgotten = true;
            }
            Place::Delayed { slot, .. } => {
                self.delays.remove(*slot);
                self.objects.remove(key);
            }
            Place::Resting => {
                self.objects.remove(key);
            }
        }
    }

    /// Drops everything but what is running.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.lanes.clear();
        self.delays.clear();
        self.objects.retain(|_, object| matches!(object.place, Place::Running(_)));
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn has_ready(&self) -> bool {
        self.lanes.depths() != (0, 0)
    }

    /// When the next delayed object is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delays.next_due()
    }

    pub(super) fn stats(&self, now: Instant) -> QueueStats {
        let (depth_low, depth_high) = self.lanes.depths();
        let times = || self.running.values().map(|&since| now - since);
        QueueStats {
            depth_low,
            depth_high,
            adds: self.adds,
            retries: self.retries,
            unfinished: times().sum(),
            longest: times().max().unwrap_or_default(),
        }
    }

    #[cfg(test)]
    pub(super) fn running(&self, now: Instant) -> Vec<(Key, Duration)> {
        self.running.iter().map(|(key, &since)| (key.clone(), now - since)).collect()
    }

    /// Puts an object that is nowhere where its request belongs.
    fn put(&mut self, key: Key, request: Request, failing: Option<Failing>, now: Instant) {
        let place = if request.due <= now {
            self.adds += 1;
            Place::Ready { ticket: self.lanes.push(key.clone(), request.priority), request }
        } else {
            Place::Delayed { slot: self.delays.insert(key.clone(), request.due), request }
        };
        self.objects.insert(key, Object { place, failing });
    }

    /// How many entries there are in all tables together.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let (low, high) = self.lanes.depths();
        self.objects.len() + self.running.len() + low + high + self.delays.len()
    }
}
