//! Level-triggered waiting: looks again and again, remembers what it saw, and says so when the time
//! is up.

#![expect(clippy::panic, reason = "a test fails by a panic")]

use std::time::{Duration, Instant};

/// Generous, because a machine under load is slow and a test that works does not wait for it.
pub(super) const LIMIT: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until `check` gives a value.
pub(super) async fn eventually<T>(
    what: &str,
    limit: Duration,
    mut check: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let started = Instant::now();
    let mut last = "never looked".to_owned();
    while started.elapsed() < limit {
        let left = limit.saturating_sub(started.elapsed());
        match tokio::time::timeout(left, check()).await {
            Ok(Ok(value)) => return value,
            Ok(Err(state)) => last = state,
            Err(_) => break,
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("{what}: not after {limit:?}; the last state seen: {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_returns_the_first_value() {
        let mut looks = 0;
        let value = eventually("three", Duration::from_secs(5), async || {
            looks += 1;
            if looks < 3 { Err(format!("{looks}")) } else { Ok(looks) }
        });
        assert_eq!(value.await, 3);
    }

    #[tokio::test]
    #[should_panic(expected = "pods: not after 100ms; the last state seen: two of three")]
    async fn it_fails_with_the_last_state_seen() {
        let check = async || Err::<(), _>("two of three".to_owned());
        eventually("pods", Duration::from_millis(100), check).await;
    }

    #[tokio::test]
    #[should_panic(expected = "the last state seen: never looked")]
    async fn a_check_that_hangs_is_ended() {
        let check = async || std::future::pending::<Result<(), String>>().await;
        eventually("pods", Duration::from_millis(50), check).await;
    }
}
