//! Whether a cache can be relied on: filled, kept up to date, and of a kind that is served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::Store;

impl Store {
    /// Notes that the watch of a namespace fails, and why, or that it works.
    pub(crate) fn is_broken(&self, namespace: &str, error: Option<String>) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(error) => {
                broken.entry(namespace.to_owned()).or_insert((Instant::now(), error));
            }
            None => drop(broken.remove(namespace)),
        }
    }

    /// Fails if the cache was never filled, or has not been kept up to date for longer than `limit`.
    pub(crate) fn check(&self, limit: Duration) -> Result<(), String> {
        let kind = &self.kind.kind;
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, error)) = broken.values().find(|(since, _)| since.elapsed() > limit) {
            let seconds = since.elapsed().as_secs();
            return Err(format!("{kind}: not up to date since {seconds} s: {error}"));
        }
        if self.is_synced() { Ok(()) } else { Err(format!("{kind}: not listed yet")) }
    }

    /// The handles of this kind that must know whether it is served; none if it has to be.
    pub(crate) fn optional_flags(&self) -> Vec<Arc<AtomicBool>> {
        let optional = self.optional.lock().unwrap_or_else(PoisonError::into_inner);
        optional.clone().unwrap_or_default()
    }

    /// Notes one more handle: with a flag if it can do without the kind.
    pub(crate) fn used_by(&self, flag: Option<Arc<AtomicBool>>) {
        let mut optional = self.optional.lock().unwrap_or_else(PoisonError::into_inner);
        match (flag, optional.as_mut()) {
            (Some(flag), Some(flags)) => flags.push(flag),
            (Some(flag), None) => flag.store(true, Ordering::Release), // somebody else insists on it
            (None, _) => {
                for flag in optional.take().unwrap_or_default() {
                    flag.store(true, Ordering::Release);
                }
            }
        }
    }

    /// How many watches fill this store; called once before they start.
    pub(crate) fn expect_watches(&self, count: usize) {
        self.behind.send_replace(count);
    }

    /// One watch has listed everything for the first time.
    pub(crate) fn caught_up(&self) {
        self.behind.send_modify(|behind| *behind = behind.saturating_sub(1));
    }

    /// True once every watch has listed everything.
    pub(crate) fn is_synced(&self) -> bool {
        *self.behind.borrow() == 0
    }

    /// Waits until every watch has listed everything.
    pub(crate) async fn until_synced(&self) {
        let mut behind = self.behind.subscribe();
        // The sender lives as long as the store.
        let _ = behind.wait_for(|behind| *behind == 0).await;
    }
}
