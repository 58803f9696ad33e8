//! How long a step may take, as it is typed.

use std::time::Duration;

use clap::Args;

/// A bound for each step.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::verbs) struct Limit {
    /// How long each step may take, such as 90s, 5m or 1h
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub(in crate::verbs) timeout: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    let refused = || format!("{text:?} is no time: give a number and s, m or h, such as 90s");
    let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| refused())?;
    let seconds = match unit {
        "" | "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    };
    seconds.map(Duration::from_secs).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_typed_as_people_write_them() {
        let seconds = |text: &str| duration(text).map(|duration| duration.as_secs());
        let all = ["90", "90s", "5m", "1h"].map(seconds);
        assert_eq!(all, [Ok(90), Ok(90), Ok(300), Ok(3600)]);
        for text in ["", "s", "1d", "-1s", "99999999999999999999h"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
