//! Looks again and again until a step is done, and tells what it waits for. Owns the clock and the pauses;
//! what is seen is `look`'s, how long is `patience`'s.

use std::time::{Duration, Instant};

use kubewright_testenv::progress::Progress;

use super::look::Look;
use super::patience::{Patience, Verdict};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Why nothing comes of a step, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct GaveUp(pub(crate) String);

/// Looks until it is done; an error says what was waited for, why, and what to do.
pub(crate) async fn until<T>(
    limit: Duration,
    mut look: impl AsyncFnMut() -> anyhow::Result<Look<T>>,
) -> anyhow::Result<T> {
    let (begun, mut patience) = (Instant::now(), Patience::new(limit));
    loop {
        let seen = look().await?;
        match patience.judge(begun.elapsed(), seen) {
            Verdict::Done(value) => return Ok(value),
            Verdict::GiveUp(why) => return Err(GaveUp(why).into()),
            Verdict::Again(line) => {
                if let Some(line) = line {
                    Progress::Shown.note(&line);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
