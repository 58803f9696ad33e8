//! The memory that all calls together may take: each takes its share as bytes arrive, and gives it back when it
//! is dropped.
//!
//! Nothing is taken for what a client only announces: it may never come. So nobody knows beforehand whether there
//! is enough for all that have begun, and they could wait for each other for ever. When nothing is left, one of
//! them may therefore go beyond it and so reach its end, and then the next.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All calls together, but for the one that may go beyond: sixteen at once with objects of 50 kB.
const TOGETHER: usize = 8 << 20;
/// What that one takes at most. Both, and the operator's other 40 MiB, fit into the 128 MiB of the container that
/// is generated.
#[cfg(test)]
pub(super) const BEYOND: usize = 70 << 20;
/// Counted in units, because a semaphore counts to 2^32 at most.
const UNIT: usize = 1 << 10;

/// What there is. A clone is the same.
#[derive(Clone)]
pub(super) struct Memory {
    together: Arc<Semaphore>,
    beyond: Arc<Semaphore>,
}

/// What one call has of it.
pub(super) struct Share {
    of: Memory,
    units: Option<OwnedSemaphorePermit>,
    beyond: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(super) fn new() -> Self {
        let together = Arc::new(Semaphore::new(TOGETHER / UNIT));
        Self { together, beyond: Arc::new(Semaphore::new(1)) }
    }

    /// Nothing yet.
    pub(super) fn share(&self) -> Share {
        Share { of: self.clone(), units: None, beyond: None }
    }
}

impl Share {
    /// Takes what `bytes` in all need beside what it has. Waits until there is as much, or until it is the one
    /// that may go beyond.
    pub(super) async fn grow(&mut self, bytes: usize) {
        let missing = (bytes / UNIT + 1).saturating_sub(self.units());
        if missing == 0 || self.beyond.is_some() {
            return;
        }
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let Memory { together, beyond } = self.of.clone();
        // Neither semaphore is ever closed.
        tokio::select! {
            biased;
            more = together.acquire_many_owned(missing) => match (&mut self.units, more.ok()) {
                (Some(units), Some(more)) => units.merge(more),
                (units, more) => *units = more,
            },
            beyond = beyond.acquire_owned() => self.beyond = beyond.ok(),
        }
    }

    /// Gives back what is more than `bytes` need, once they are all that is left of a call.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let needed = bytes / UNIT + 1;
        let has = self.units();
        if has >= needed {
            self.beyond = None;
        }
        let surplus = has.saturating_sub(needed);
        drop(self.units.as_mut().and_then(|units| units.split(surplus)));
    }

    fn units(&self) -> usize {
        self.units.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    const SHORTLY: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn calls_that_wait_for_each_other_end_one_after_the_other() {
        let memory = Memory::new();
        let calls = (0..32).map(|_| async {
            let mut share = memory.share();
            for number in 1..=32 {
                share.grow(number * (TOGETHER / 32)).await;
                sleep(Duration::from_millis(1)).await;
            }
        });
        let all = futures_util::future::join_all(calls);
        assert!(timeout(Duration::from_secs(10), all).await.is_ok());
        assert_eq!(memory.together.available_permits(), TOGETHER / UNIT);
        assert_eq!(memory.beyond.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_at_a_time_goes_beyond_and_the_next_waits_for_it() {
        let memory = Memory::new();
        let [mut first, mut second] = [memory.share(), memory.share()];
        first.grow(TOGETHER - UNIT).await;
        first.grow(2 * TOGETHER).await;
        assert!(timeout(SHORTLY, second.grow(1)).await.is_err());
        drop(first);
        assert!(timeout(SHORTLY, second.grow(1)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_needed_any_more_is_given_back() {
        let memory = Memory::new();
        let [mut first, mut second] = [memory.share(), memory.share()];
        first.grow(TOGETHER - UNIT).await;
        first.grow(TOGETHER).await;
        first.shrink(UNIT);
        assert!(timeout(SHORTLY, second.grow(TOGETHER - 4 * UNIT)).await.is_ok());
    }
}
