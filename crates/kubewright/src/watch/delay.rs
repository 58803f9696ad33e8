//! How long a watch waits after a failure: from 0.8 s to 30 s, spread, so that many do not come back at the
//! same moment.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(800);
const LONGEST: Duration = Duration::from_secs(30);

/// The wait after a failure, longer with each in a row.
#[derive(Default)]
pub(crate) struct Delay {
    failures: u32,
    jitter: RandomState,
}

impl Delay {
    /// It works again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Waits.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.next()).await;
    }

    fn next(&mut self) -> Duration {
        let full = (FIRST * (1 << self.failures.min(8))).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let [byte, ..] = self.jitter.hash_one(self.failures).to_le_bytes();
        full.mul_f64(0.75 + f64::from(byte) / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_up_to_30_seconds_and_starts_anew() {
        let mut delay = Delay::default();
        let first = delay.next();
        assert!(first >= FIRST / 2 && first <= FIRST, "{first:?}");
        for _ in 0..100 {
            assert!(delay.next() <= LONGEST);
        }
        assert!(delay.next() > LONGEST / 2);
        delay.reset();
        assert!(delay.next() <= FIRST);
    }
}
