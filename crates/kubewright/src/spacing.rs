//! How soon after its last status an object may get the next one. No IO.
//!
//! What an object is made of changes in bursts: three pods come up within a second and each passes through
//! several states. Every status that is written costs a request, an entry in etcd, and an event for
//! everybody who watches; of a burst only the last one matters.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;

/// Two statuses of one object are not closer than this: quicker than people can see, slower than bursts.
const DISTANCE: Duration = Duration::from_millis(200);

/// The objects whose status was written a moment ago; all others take no memory.
#[derive(Default)]
pub(crate) struct Spacing(Mutex<Recent>);

#[derive(Default)]
struct Recent {
    written: HashMap<Key, Instant>,
    order: VecDeque<(Instant, Key)>,
}

impl Spacing {
    /// How long the next status of this object has to wait; none if it may be written now.
    pub(crate) fn wait(&self, key: &Key) -> Option<Duration> {
        let now = Instant::now();
        let written = self.recent(now).written.get(key).copied();
        written.map(|written| written + DISTANCE - now)
    }

    /// A status was sent, and whatever came of it is known.
    pub(crate) fn wrote(&self, key: &Key) {
        let now = Instant::now();
        let mut recent = self.recent(now);
        recent.written.insert(key.clone(), now);
        recent.order.push_back((now, key.clone()));
    }

    /// Without those that are long enough ago.
    fn recent(&self, now: Instant) -> MutexGuard<'_, Recent> {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((at, key)) = recent.order.pop_front() {
            if now < at + DISTANCE {
                recent.order.push_front((at, key));
                break;
            }
            if recent.written.get(&key) == Some(&at) {
                recent.written.remove(&key);
            }
        }
        recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_next_waits_for_the_rest_of_the_distance_and_others_do_not() {
        let (spacing, key) = (Spacing::default(), Key::new("a", "b"));
        assert_eq!(spacing.wait(&key), None);
        spacing.wrote(&key);
        assert_eq!(spacing.wait(&key), Some(DISTANCE));
        assert_eq!(spacing.wait(&Key::new("a", "c")), None);
        tokio::time::advance(DISTANCE / 4).await;
        assert_eq!(spacing.wait(&key), Some(DISTANCE * 3 / 4));
        tokio::time::advance(DISTANCE * 3 / 4).await;
        assert_eq!(spacing.wait(&key), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_last_moment_is_remembered() {
        let spacing = Spacing::default();
        for number in 0..1000 {
            spacing.wrote(&Key::new("a", &number.to_string()));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        let recent = spacing.recent(Instant::now());
        assert!(recent.written.len() <= 200 && recent.order.len() <= 200);
    }
}
