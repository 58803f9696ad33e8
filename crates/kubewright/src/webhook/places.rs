//! How many calls are worked on at a time, and whether any of them ever ends.
//!
//! A thread cannot be ended from outside. Where all have calls that never end, nothing but a restart helps, and
//! the liveness check says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// So many are worked on at a time; the others wait for their turn, each at most until its deadline.
const AT_ONCE: usize = 16;
/// Work is done in milliseconds, and nobody waits longer than 9 s for it: what takes a minute never ends.
const FOR_EVER: Duration = Duration::from_mins(1);

/// A clone is the same.
#[derive(Clone)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// Since when none was free, and none became so.
    full: Arc<Mutex<Option<Instant>>>,
}

/// Where one call is worked on, for as long as it is held.
pub(super) struct Place {
    of: Places,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(AT_ONCE)), full: Arc::default() }
    }

    /// Waits for one.
    pub(super) async fn take(&self) -> Place {
        let permit = self.free.clone().acquire_owned().await.ok(); // nobody closes it
        if self.free.available_permits() == 0 {
            self.set(Some(Instant::now()));
        }
        Place { of: self.clone(), _permit: permit }
    }

    /// Fails if no call has ended for long while all places were taken.
    pub(crate) fn check(&self) -> Result<(), String> {
        let full = *self.full.lock().unwrap_or_else(PoisonError::into_inner);
        match full.map(|since| since.elapsed()) {
            Some(elapsed) if elapsed >= FOR_EVER && self.free.available_permits() == 0 => {
                let seconds = elapsed.as_secs();
                Err(format!("{AT_ONCE} webhook calls have not ended for {seconds} s"))
            }
            _ => Ok(()),
        }
    }

    fn set(&self, full: Option<Instant>) {
        *self.full.lock().unwrap_or_else(PoisonError::into_inner) = full;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.set(None); // and then the permit goes
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_calls_that_never_end_and_take_all_places_are_a_reason_to_restart() {
        let places = Places::new();
        let mut held = Vec::new();
        for _ in 1..AT_ONCE {
            held.push(places.take().await);
        }
        advance(FOR_EVER).await;
        assert_eq!(places.check(), Ok(()), "one is free");
        held.push(places.take().await);
        advance(FOR_EVER / 2).await;
        held.pop();
        held.push(places.take().await);
        advance(FOR_EVER * 3 / 4).await;
        assert_eq!(places.check(), Ok(()), "one has ended meanwhile");
        advance(FOR_EVER / 4).await;
        assert_eq!(places.check().unwrap_err(), "16 webhook calls have not ended for 60 s");
        held.pop();
        assert_eq!(places.check(), Ok(()));
    }
}
