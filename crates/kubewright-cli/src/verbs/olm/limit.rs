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

/// As Go writes it, too: `1m30s`, `1.5h`. A number alone is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let refused = || format!("{text:?} is no time: give a number and s, m or h, such as 90s");
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
        let unit = number.trim_start_matches(|one: char| one.is_ascii_alphabetic());
        let (digits, name) = (rest.strip_suffix(number), number.strip_suffix(unit));
        let digits: f64 = digits.unwrap_or_default().parse().map_err(|_| refused())?;
        seconds += digits * unit_of(name.unwrap_or_default()).ok_or_else(refused)?;
        rest = unit;
    }
    let is_given = !text.is_empty();
    Duration::try_from_secs_f64(seconds).ok().filter(|_| is_given).ok_or_else(refused)
}

/// In seconds.
fn unit_of(name: &str) -> Option<f64> {
    match name {
        "ms" => Some(0.001),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_typed_as_people_write_them() {
        let seconds = |text: &str| duration(text).map(|duration| duration.as_secs());
        let all = ["90", "90s", "5m", "1h"].map(seconds);
        assert_eq!(all, [Ok(90), Ok(90), Ok(300), Ok(3600)]);
        let all = ["2m0s", "1m30s", "1h1m1s", "1.5h", "2500ms"].map(seconds);
        assert_eq!(all, [Ok(120), Ok(90), Ok(3661), Ok(5400), Ok(2)]);
        for text in ["", "s", "1d", "-1s", "1m30", ".s", "1..5s", "1 m", "99999999999999999999h"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
