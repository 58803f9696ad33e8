//! The faults that are on now, and the signals that carry a change to whom it concerns.
//!
//! Owns the state; does no IO. Connections ask it when they may go on.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

#[derive(Clone, Copy, Default)]
struct State {
    delay: Duration,
    cut: bool,
    generation: Generation,
}

/// How many cuts came before a connection. A number, not just the flag of the cut: a heal right
/// after a cut must not save the connections that the cut was for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Generation(u64);

struct OpenWatch {
    generation: Generation,
    expire: oneshot::Sender<()>,
}

#[derive(Default)]
pub(super) struct Faults {
    state: watch::Sender<State>,
    watches: Mutex<Vec<OpenWatch>>,
}

impl Faults {
    pub(super) fn delay(&self, delay: Duration) {
        self.state.send_modify(|state| state.delay = delay);
    }

    pub(super) fn cut(&self) {
        self.state.send_modify(|state| {
            state.cut = true;
            state.generation.0 += 1;
        });
    }

    pub(super) fn heal(&self) {
        self.state.send_modify(|state| {
            state.cut = false;
            state.delay = Duration::ZERO;
        });
    }

    /// What a new connection belongs to; `None` if it must be closed.
    pub(super) fn admit(&self) -> Option<Generation> {
        let state = *self.state.borrow();
        (!state.cut).then_some(state.generation)
    }

    /// Runs `work` until it is done or the connections of `generation` are cut.
    ///
    /// The cut is looked at first whenever the task wakes, so that nothing passes after
    /// [`Self::cut`] has returned but what another thread was already at.
    pub(super) async fn until_cut(&self, generation: Generation, work: impl Future<Output = ()>) {
        let mut state = self.state.subscribe();
        tokio::select! {
            biased;
            _ = state.wait_for(|state| state.generation != generation) => {}
            () = work => {}
        }
    }

    /// Returns when what came at `arrival` has been held for as long as the delay is, at once if it
    /// has already. A change of the delay counts for what is being held.
    pub(super) async fn hold(&self, arrival: Instant) {
        let mut state = self.state.subscribe();
        loop {
            let left = state.borrow_and_update().delay.saturating_sub(arrival.elapsed());
            // Even a sleep of nothing lasts until the next tick of the timer, a millisecond.
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                // Fails only without a sender, and `self` is the sender.
                _ = state.changed() => {}
            }
        }
    }

    /// Notes a watch that has begun; what is returned yields when it has to expire.
    pub(super) fn watch_begun(&self, generation: Generation) -> oneshot::Receiver<()> {
        let (expire, expired) = oneshot::channel();
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        // Watches end without a word; here is where the list is kept from growing.
        watches.retain(|watch| !watch.expire.is_closed());
        watches.push(OpenWatch { generation, expire });
        expired
    }

    pub(super) fn expire_watches(&self) -> usize {
        let generation = self.state.borrow().generation;
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches
            .drain(..)
            // The others were cut, though their tasks may not have noticed yet.
            .filter(|watch| watch.generation == generation)
            .filter_map(|watch| watch.expire.send(()).ok())
            .count()
    }
}
