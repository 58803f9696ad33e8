//! How long to leave an object alone after its n-th failure in a row.
//!
//! Pure arithmetic: it counts no failures and reads no clock; the queue does both.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::key::Key;

/// The delay after the first failure: short, because most failures are conflicts that the very
/// next pass resolves.
const FIRST: Duration = Duration::from_millis(5);

/// How far a delay is moved to either side.
const JITTER: f64 = 0.1;

/// Doubling delays from 5 ms up to a cap, each up to 10 % shorter or longer, so that thousands of
/// objects that began to fail together do not come back together.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    cap: Duration,
    /// Source of the jitter: the same key and count give the same delay, another process another.
    jitter: RandomState,
}

impl Backoff {
    /// Delays that never exceed `cap`.
    pub(crate) fn new(cap: Duration) -> Self {
        Self { cap, jitter: RandomState::new() }
    }

    /// The delay after `failures` failures in a row, of which the one just seen is the last.
    pub(crate) fn delay(&self, key: &Key, failures: u32) -> Duration {
        let [low, high, ..] = self.jitter.hash_one((key, failures)).to_le_bytes();
        let random = f64::from(u16::from_le_bytes([low, high])) / f64::from(u16::MAX);
        // Beyond 31 doublings, some 120 days, only the cap counts.
        let doubled = FIRST * (1 << failures.saturating_sub(1).min(31));
        // The longest delay is centred below the cap. Cutting it off at the cap instead would let
        // half of all objects wait for exactly the cap: in step again.
        let centre = doubled.min(self.cap.mul_f64(1.0 / (1.0 + JITTER)));
        centre.mul_f64(1.0 - JITTER + 2.0 * JITTER * random).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        Key::new("shop", &format!("cart-{number}"))
    }

    #[test]
    fn delays_double_from_5_ms_within_a_tenth() {
        let backoff = Backoff::new(Duration::from_secs(1000));
        for (failures, expected) in (1..=16).zip((0..).map(|doublings| 5 << doublings)) {
            let millis = backoff.delay(&key(1), failures).as_secs_f64() * 1000.0;
            let expected = f64::from(expected);
            assert!(
                (expected * 0.899..=expected * 1.101).contains(&millis),
                "after {failures} failures: {millis} ms instead of {expected} ms"
            );
        }
    }

    #[test]
    fn no_delay_exceeds_the_cap_or_falls_far_below_it_however_many_failures() {
        for cap in [1, 7, 1000, 300_000].map(Duration::from_millis) {
            let backoff = Backoff::new(cap);
            for failures in (20..200).chain([u32::MAX - 1, u32::MAX]) {
                let delay = backoff.delay(&key(failures), failures);
                assert!(delay <= cap && delay >= cap.mul_f64(0.8), "{delay:?} for cap {cap:?}");
            }
        }
    }

    #[test]
    fn neither_an_absurd_cap_nor_a_count_of_none_overflows() {
        let longest = Backoff::new(Duration::MAX).delay(&key(1), u32::MAX);
        assert!(longest > Duration::from_hours(100 * 24), "{longest:?}");
        assert!(Backoff::new(Duration::MAX).delay(&key(1), 0) < Duration::from_millis(6));
        assert_eq!(Backoff::new(Duration::ZERO).delay(&key(1), 9), Duration::ZERO);
    }

    #[test]
    fn objects_that_fail_together_come_back_spread_over_the_whole_width_at_the_cap_too() {
        let cap = Duration::from_secs(100);
        let backoff = Backoff::new(cap);
        let mut tenths = [0; 10];
        for number in 0..5000 {
            let delay = backoff.delay(&key(number), 40).as_secs_f64();
            let share = (delay / cap.as_secs_f64() - 9.0 / 11.0) / (2.0 / 11.0);
            let tenth = (1..10).filter(|&tenth| share >= f64::from(tenth) / 10.0).count();
            tenths[tenth] += 1;
        }
        assert!(tenths.iter().all(|&count| (350..650).contains(&count)), "{tenths:?}");
    }
}
