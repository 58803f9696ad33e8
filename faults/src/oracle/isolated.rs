//! V5: how long good objects take beside bad ones.

use std::time::Duration;

/// The value that so many per cent are not above.
pub fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or_default()
}

/// Nobody waits for less, and two cores that others share take it from anybody by themselves.
const NOISE: Duration = Duration::from_millis(200);

/// Whether the good ones beside bad ones took at most twice as long as without.
///
/// # Errors
/// Both figures, as a sentence.
pub fn judge(clean: &[Duration], beside: &[Duration]) -> Result<(), String> {
    let (clean, beside) = (percentile(clean, 99), percentile(beside, 99));
    if beside <= (clean * 2).max(NOISE) {
        return Ok(());
    }
    Err(format!("V5: p99 is {beside:?} beside bad objects and {clean:?} without"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_long_is_the_bound() {
        let milliseconds = |values: &[u64]| -> Vec<_> {
            values.iter().map(|value| Duration::from_millis(*value)).collect()
        };
        let clean = milliseconds(&[100, 200, 300]);
        assert_eq!(percentile(&clean, 99), Duration::from_millis(300));
        assert_eq!(judge(&clean, &milliseconds(&[600])), Ok(()));
        assert!(judge(&clean, &milliseconds(&[601])).is_err());
        assert_eq!(judge(&milliseconds(&[10]), &milliseconds(&[200])), Ok(()));
        assert!(judge(&milliseconds(&[10]), &milliseconds(&[201])).is_err());
    }
}
