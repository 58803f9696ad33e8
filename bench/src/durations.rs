//! Many durations of one thing, and what is said of them.

use std::time::Duration;

/// Durations in any order.
#[derive(Default)]
pub struct Durations(Vec<Duration>);

impl Durations {
    /// One more.
    pub fn add(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// The shortest that this many of 100 do not exceed, in milliseconds; 0 if there is none.
    /// `within(50)` is the median, `within(100)` the longest.
    pub fn within(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(rank).map_or(0.0, |duration| duration.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_them_are_within_the_median() {
        let mut durations = Durations::default();
        assert_eq!(format!("{:.1}", durations.within(50)), "0.0");
        for number in [4, 1, 3, 2] {
            durations.add(Duration::from_millis(number));
        }
        let within =
            [1, 50, 75, 99, 100].map(|percent| format!("{:.1}", durations.within(percent)));
        assert_eq!(within, ["1.0", "2.0", "3.0", "4.0", "4.0"]);
    }
}
