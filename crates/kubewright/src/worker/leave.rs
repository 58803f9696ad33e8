//! Takes our finalizer off every object of a kind: the operator goes for good, and nothing may wait for it.

use futures_util::{StreamExt as _, stream};
use tracing::{debug, warn};

use crate::error::chain;
use crate::worker::Worker;

/// So many requests at a time: thousands of objects have to be done within seconds.
const AT_ONCE: usize = 32;

/// What became of the finalizers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) removed: usize,
    pub(crate) failed: usize,
}

impl Worker {
    /// From the cache, without running `finalize`: what that would clear up stays.
    pub(crate) async fn release_all(&self) -> Released {
        let Some(finalizer) = &self.finalizer else { return Released::default() };
        let held = self.primary.keys().into_iter().filter_map(|key| self.primary.get(&key));
        let ours = held.filter(|held| finalizer.position(held).is_some());
        let removals = ours.map(|held| async move { finalizer.remove(&self.writer, &held).await });
        let mut results = stream::iter(removals).buffer_unordered(AT_ONCE);
        let mut released = Released::default();
        while let Some(result) = results.next().await {
            match result {
                Ok(()) => released.removed += 1,
                Err(error) if released.failed == 0 => {
                    warn!(error = chain(&error), "cannot take a finalizer off");
                    released.failed += 1;
                }
                Err(error) => {
                    debug!(error = chain(&error), "cannot take a finalizer off");
                    released.failed += 1;
                }
            }
        }
        released
    }
}
