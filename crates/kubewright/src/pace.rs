//! How often the children of one object may be changed: a few times at once, then only so often. No IO.
//!
//! An object whose spec changes a hundred times a second would cost a hundred writes per child, and as many
//! rollouts; what counts is the last state. Creating is not held back, only changing.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// So many passes in a row may change something: an edit, and one that puts it right.
const AT_ONCE: u32 = 2;
/// Then one each so often.
const EVERY: Duration = Duration::from_millis(600);
/// Below that many remembered objects it is not worth looking for those to forget.
const FEW: usize = 64;

/// Remembers only who has changed something a moment ago.
#[derive(Default)]
pub(crate) struct Pace {
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    /// By the uid of the owner: when all that was changed would have been, one each [`EVERY`].
    until: HashMap<String, Instant>,
    /// Whose pass of now has changed something.
    changed: HashSet<String>,
    /// How many to remember before those are forgotten whose time is over.
    limit: usize,
}

impl Pace {
    /// A child of this owner is being changed.
    pub(crate) fn changed(&self, owner: &str) {
        self.recent().changed.insert(owner.to_owned());
    }

    /// True if the pass over this owner has changed a child.
    pub(crate) fn has_changed(&self, owner: &str) -> bool {
        self.recent().changed.contains(owner)
    }

    /// The pass over this owner is over: whatever it changed counts once.
    pub(crate) fn passed(&self, owner: &str) {
        let mut recent = self.recent();
        if !recent.changed.remove(owner) {
            return;
        }
        let now = Instant::now();
        if recent.until.len() >= recent.limit.max(FEW) {
            recent.until.retain(|_, until| *until > now);
            recent.limit = recent.until.len() * 2;
        }
        let until = recent.until.entry(owner.to_owned()).or_insert(now);
        *until = (*until).max(now) + EVERY;
    }

    /// How long this owner has to wait for its next pass; none if it need not.
    pub(crate) fn wait(&self, owner: &str) -> Option<Duration> {
        let until = self.recent().until.get(owner).copied()?;
        let ahead = until.saturating_duration_since(Instant::now());
        Some(ahead.saturating_sub(EVERY * (AT_ONCE - 1))).filter(|wait| !wait.is_zero())
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(pace: &Pace, owner: &str) {
        pace.changed(owner);
        pace.changed(owner); // two children, one pass
        pace.passed(owner);
    }

    #[tokio::test(start_paused = true)]
    async fn two_changes_pass_at_once_and_then_one_each_so_often() {
        let pace = Pace::default();
        change(&pace, "a");
        assert_eq!(pace.wait("a"), None);
        change(&pace, "a");
        assert_eq!(pace.wait("a"), Some(EVERY));
        assert_eq!(pace.wait("b"), None, "others need not wait");
        tokio::time::advance(EVERY).await;
        assert_eq!(pace.wait("a"), None);
        change(&pace, "a");
        assert_eq!(pace.wait("a"), Some(EVERY));
        tokio::time::advance(EVERY * 3).await;
        change(&pace, "a");
        assert_eq!(pace.wait("a"), None, "what is long ago is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_changes_nothing_does_not_count() {
        let pace = Pace::default();
        for _ in 0..10 {
            pace.passed("a");
        }
        assert_eq!(pace.wait("a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_last_moments_are_remembered() {
        let pace = Pace::default();
        for number in 0..10_000 {
            change(&pace, &number.to_string());
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        let recent = pace.recent();
        assert!(recent.until.len() <= 2 * FEW, "{}", recent.until.len());
    }
}
