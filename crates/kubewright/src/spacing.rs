//! What happened to which object a moment ago, and how long to wait until that is long enough ago. No IO.
//!
//! Remembers only what is young enough to matter; everything else takes no memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;

/// A burst is over when nothing has happened for so many times its longest distance.
const QUIET: u32 = 3;

/// The objects to which something happened less than a distance ago.
pub(crate) struct Spacing {
    least: Duration,
    most: Duration,
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    last: HashMap<Key, Last>,
    order: VecDeque<(Instant, Key)>,
}

/// The last time, and how far from it the next has to be.
#[derive(Clone, Copy)]
struct Last {
    at: Instant,
    distance: Duration,
}

impl Spacing {
    /// Always the same distance.
    pub(crate) fn new(distance: Duration) -> Self {
        Self::growing(distance, distance)
    }

    /// In a burst that goes on, each distance is twice the one before, up to `most`.
    pub(crate) fn growing(least: Duration, most: Duration) -> Self {
        Self { least, most, recent: Mutex::default() }
    }

    /// How long this object has to wait; none if nothing has happened to it lately.
    pub(crate) fn wait(&self, key: &Key) -> Option<Duration> {
        self.wait_of(key, |last| last.distance)
    }

    /// As [`Self::wait`], but in a burst too no longer than the least distance.
    pub(crate) fn least_wait(&self, key: &Key) -> Option<Duration> {
        self.wait_of(key, |_| self.least)
    }

    fn wait_of(&self, key: &Key, distance: impl FnOnce(Last) -> Duration) -> Option<Duration> {
        let now = Instant::now();
        let last = self.recent(now).last.get(key).copied()?;
        let wait = (last.at + distance(last)).saturating_duration_since(now);
        Some(wait).filter(|wait| !wait.is_zero())
    }

    /// It happens to this object now.
    pub(crate) fn note(&self, key: &Key) {
        let now = Instant::now();
        let mut recent = self.recent(now);
        let before = recent.last.get(key).map(|last| last.distance);
        let distance = before.map_or(self.least, |distance| (distance * 2).min(self.most));
        recent.last.insert(key.clone(), Last { at: now, distance });
        recent.order.push_back((now, key.clone()));
    }

    /// Without those that are long enough ago.
    fn recent(&self, now: Instant) -> MutexGuard<'_, Recent> {
        let kept = if self.least == self.most { self.least } else { self.most * QUIET };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((at, key)) = recent.order.pop_front() {
            if now < at + kept {
                recent.order.push_front((at, key));
                break;
            }
            if recent.last.get(&key).is_some_and(|last| last.at == at) {
                recent.last.remove(&key);
            }
        }
        recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISTANCE: Duration = Duration::from_millis(200);

    #[tokio::test(start_paused = true)]
    async fn the_next_waits_for_the_rest_of_the_distance_and_others_do_not() {
        let (spacing, key) = (Spacing::new(DISTANCE), Key::new("a", "b"));
        assert_eq!(spacing.wait(&key), None);
        spacing.note(&key);
        assert_eq!(spacing.wait(&key), Some(DISTANCE));
        assert_eq!(spacing.wait(&Key::new("a", "c")), None);
        tokio::time::advance(DISTANCE / 4).await;
        assert_eq!(spacing.wait(&key), Some(DISTANCE * 3 / 4));
        tokio::time::advance(DISTANCE * 3 / 4).await;
        assert_eq!(spacing.wait(&key), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_last_moment_is_remembered() {
        let spacing = Spacing::new(DISTANCE);
        for number in 0..1000 {
            spacing.note(&Key::new("a", &number.to_string()));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        let recent = spacing.recent(Instant::now());
        assert!(recent.last.len() <= 200 && recent.order.len() <= 200);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_that_goes_on_gets_longer_waits_until_it_is_over() {
        let most = Duration::from_secs(1);
        let (spacing, key) = (Spacing::growing(DISTANCE, most), Key::new("a", "b"));
        let mut waits = Vec::new();
        for _ in 0..5 {
            spacing.note(&key);
            assert_eq!(spacing.least_wait(&key), Some(DISTANCE));
            let wait = spacing.wait(&key).unwrap();
            waits.push(wait.as_millis());
            tokio::time::advance(wait).await;
        }
        assert_eq!(waits, [200, 400, 800, 1000, 1000]);
        tokio::time::advance(most * QUIET).await;
        spacing.note(&key);
        assert_eq!(spacing.wait(&key), Some(DISTANCE));
    }
}
