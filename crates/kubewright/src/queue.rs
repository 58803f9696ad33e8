//! The work queue of one controller: which object is looked at next, and when.
//!
//! Owns the order of work. It knows objects by their [`Key`] only, does no IO, spawns nothing and
//! keeps everything in memory: after a restart, the initial list fills it again.
//!
//! # Guarantees
//!
//! - An object is in the hands of at most one worker, and waits at most once however often it is
//!   added. What is added while it runs is looked at by a further pass; no addition is lost.
//! - Two priorities, first in, first out in each: live changes ([`Priority::High`]) overtake
//!   initial lists, resyncs, timers and retries ([`Priority::Low`]). Of 17 items at least one is a
//!   `Low` one if any waits, so that a constant stream of changes starves nobody.
//! - A failing object keeps its distance (see [`Finish::Retry`]), also from its own writes.
//! - An object whose last pass succeeded and that waits for nothing takes no memory.
//!
//! # Caveats
//!
//! A worker that takes an item must call [`Queue::finish`] in every case, after a panic too:
//! until then nobody else gets the object.

mod delays;
mod lanes;
mod object;
mod state;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::backoff::Backoff;
use crate::key::Key;
use object::Request;
use state::State;

/// A delay beyond this one means "never": adding it to the clock must not overflow.
const LONGEST_DELAY: Duration = Duration::from_hours(365 * 24);

/// Which of the two lanes an item waits in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Priority {
    /// Nobody is waiting for it: initial list, resync, timer, retry.
    Low,
    /// A live change.
    High,
}

/// An object handed to a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    /// The object.
    pub(crate) key: Key,
    /// Since it was wanted: for a delayed item since the end of its delay, for one that was added
    /// while it ran since that addition.
    pub(crate) waited: Duration,
    /// The lane it came from.
    pub(crate) priority: Priority,
    /// How many passes in a row have failed so far.
    pub(crate) attempt: u32,
    /// Why it was queued: the first reason, unless a later one made it more urgent.
    pub(crate) reason: &'static str,
}

/// How a pass ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Finish {
    /// Success; wait for the next change.
    Done,
    /// Success; look again after this time, at low priority.
    After(Duration),
    /// Failure; look again after the back-off, at low priority.
    ///
    /// Until then a `Low` addition changes nothing: the retry covers it. A `High` one ends the
    /// wait, but only once per second: an object that fails and is changed on every pass, be it by
    /// another controller or by the status that the pass itself writes, would otherwise be
    /// reconciled in a hot loop. What comes within that second waits for its end.
    Retry,
    /// Failure, and the server has said when it wants to be asked again: nothing before that, not even for
    /// a change, and nothing before the back-off.
    Patience(Duration),
    /// Failure that only a change can mend; nothing until the next addition. The count of failures
    /// stays as it is, and `High` additions are limited as for `Retry`.
    Wait,
}

/// The state of a queue at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct QueueStats {
    /// Items ready for a worker at low priority.
    pub(crate) depth_low: usize,
    /// Items ready for a worker at high priority.
    pub(crate) depth_high: usize,
    /// How often an item became ready, ever. An addition of what is ready already does not count.
    pub(crate) adds: u64,
    /// How many passes asked for a retry, ever.
    pub(crate) retries: u64,
    /// How long the running passes have been running, all together.
    pub(crate) unfinished: Duration,
    /// How long the longest of them has been running.
    pub(crate) longest: Duration,
}

/// A handle on the queue; clones share it.
#[derive(Clone)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Notify,
}

impl Queue {
    /// An empty queue.
    pub(crate) fn new(backoff: Backoff) -> Self {
        let state = Mutex::new(State::new(backoff));
        Self { shared: Arc::new(Shared { state, wake: Notify::new() }) }
    }

    /// Makes an object ready at once; once the queue is closed, nothing happens.
    ///
    /// What waits at a lower priority moves to the end of the higher one. What is delayed becomes
    /// ready, except as said at [`Finish::Retry`]. What is running becomes ready when it finishes.
    pub(crate) fn add(&self, key: Key, priority: Priority, reason: &'static str) {
        self.add_after(key, Duration::ZERO, priority, reason);
    }

    /// Makes an object ready after a delay, or earlier if it is wanted earlier for another reason.
    ///
    /// What is ready already stays as it is: its pass comes first and sees the same.
    pub(crate) fn add_after(
        &self,
        key: Key,
        delay: Duration,
        priority: Priority,
        reason: &'static str,
    ) {
        self.change(|state, now| {
            state.add(key, Request { due: later(now, delay), priority, reason }, now);
        });
    }

    /// Waits for an item and takes it; `None` once the queue is closed.
    ///
    /// Any number of workers may wait. Dropping the future loses nothing: an item is taken in the
    /// poll that returns it.
    pub(crate) async fn next(&self) -> Option<Item> {
        loop {
            // Before the look at the state, so that nothing between the look and the wait is
            // missed.
            let woken = self.shared.wake.notified();
            let (item, alarm, closed) = self.change(|state, now| {
                let item = state.take(now);
                (item, state.next_due(), state.is_closed())
            });
            match (item, alarm) {
                (Some(item), _) => return Some(item),
                (None, _) if closed => return None,
                // Elapsed or woken, the state says what to do.
                (None, Some(alarm)) => drop(timeout_at(alarm, woken).await),
                (None, None) => woken.await,
            }
        }
    }

    /// Gives an item back. A key that is not running is ignored.
    ///
    /// What was added in the meantime goes to the end of its lane, behind all who waited.
    pub(crate) fn finish(&self, key: &Key, finish: Finish) {
        self.change(|state, now| state.finish(key, finish, now));
    }

    /// The object is gone: drops its delay and its failures.
    ///
    /// A pass that is running or ready is left alone; how the running one ends no longer matters,
    /// unless the object is added again before.
    pub(crate) fn forget(&self, key: &Key) {
        self.change(|state, now| state.forget(key, now));
    }

    /// Ends the queue: what waits is dropped, every `next` returns `None`, running passes may
    /// still finish.
    pub(crate) fn close(&self) {
        self.change(|state, _| state.close());
        self.shared.wake.notify_waiters();
    }

    /// Numbers for the metrics.
    pub(crate) fn stats(&self) -> QueueStats {
        self.change(|state, now| state.stats(now))
    }

    /// What is in the hands of a worker, and for how long.
    #[cfg(test)]
    pub(crate) fn running(&self) -> Vec<(Key, Duration)> {
        self.change(|state, now| state.running(now))
    }

    /// Looks at the state as of now, lets `change` have it, and wakes whom the result concerns.
    ///
    /// One worker is woken if anything is ready; as it takes its item through here, it wakes the
    /// next one. All are woken if something is due earlier than they know, so that every waiting
    /// worker has the right alarm set and none depends on another one that may be dropped.
    fn change<T>(&self, change: impl FnOnce(&mut State, Instant) -> T) -> T {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let known = state.next_due();
        state.promote(now);
        let result = change(&mut state, now);
        let ready = state.has_ready();
        let earlier = state.next_due().is_some_and(|due| known.is_none_or(|known| due < known));
        drop(state);
        if earlier {
            self.shared.wake.notify_waiters();
        }
        if ready {
            self.shared.wake.notify_one();
        }
        result
    }
}

/// The time `delay` from `now`.
fn later(now: Instant, delay: Duration) -> Instant {
    now + delay.min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests;
