//! What happened to which object a moment ago, and how long to wait until that is long enough ago. No IO.
//!
//! Remembers only what is younger than its distance; everything else takes no memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;

/// The objects to which something happened less than a distance ago.
pub(crate) struct Spacing {
    distance: Duration,
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    at: HashMap<Key, Instant>,
    order: VecDeque<(Instant, Key)>,
}

impl Spacing {
    pub(crate) fn new(distance: Duration) -> Self {
        Self { distance, recent: Mutex::default() }
    }

    /// How long this object has to wait; none if nothing has happened to it lately.
    pub(crate) fn wait(&self, key: &Key) -> Option<Duration> {
        let now = Instant::now();
        let at = self.recent(now).at.get(key).copied();
        at.map(|at| at + self.distance - now)
    }

    /// It happens to this object now.
    pub(crate) fn note(&self, key: &Key) {
        let now = Instant::now();
        let mut recent = self.recent(now);
        recent.at.insert(key.clone(), now);
        recent.order.push_back((now, key.clone()));
    }

    /// Without those that are long enough ago.
    fn recent(&self, now: Instant) -> MutexGuard<'_, Recent> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((at, key)) = recent.order.pop_front() {
            if now < at + self.distance {
                recent.order.push_front((at, key));
                break;
            }
            if recent.at.get(&key) == Some(&at) {
                recent.at.remove(&key);
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
        assert!(recent.at.len() <= 200 && recent.order.len() <= 200);
    }
}
