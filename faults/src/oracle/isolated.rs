//! V5: how long good objects take beside bad ones.

use std::time::Duration;

/// The value that so many per cent are not above.
pub fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or_default()
}

/// Whether the good ones beside bad ones took at most twice as long as without, and a bit.
///
/// # Errors
/// Both figures, as a sentence.
pub fn judge(clean: &[Duration], beside: &[Duration]) -> Result<(), String> {
    let (clean, beside) = (percentile(clean, 99), percentile(beside, 99));
    if beside <= clean * 2 {
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
        let clean = milliseconds(&[10, 20, 30]);
        assert_eq!(percentile(&clean, 99), Duration::from_millis(30));
        assert_eq!(judge(&clean, &milliseconds(&[60])), Ok(()));
        assert!(judge(&clean, &milliseconds(&[61])).is_err());
    }
}
