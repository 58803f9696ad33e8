//! Durations as Go writes them: `500ms`, `1m30s`, `1.5h`.

use std::time::Duration;

const HINT: &str = "write a duration such as 500ms, 30s, 5m, 1m30s or 10h";

/// `--max-backoff`
pub(super) fn backoff(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_secs(1), Duration::from_secs(1000), "it must be 1s to 1000s")
}

/// `--reconcile-timeout`
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_secs(1), Duration::from_hours(1), "it must be 1s to 1h")
}

/// `--resync`
pub(super) fn resync(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Ok(Duration::ZERO),
        _ => within(text, Duration::from_mins(1), Duration::MAX, "it must be 0 or at least 1m"),
    }
}

fn within(text: &str, least: Duration, most: Duration, bounds: &str) -> Result<Duration, String> {
    let duration = parse(text)?;
    if (least..=most).contains(&duration) { Ok(duration) } else { Err(bounds.to_owned()) }
}

fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let (part, after) = first_part(rest).ok_or(HINT)?;
        total = total.checked_add(part).ok_or(HINT)?;
        rest = after;
    }
    if text.is_empty() { Err(HINT.to_owned()) } else { Ok(total) }
}

/// The first number with its unit, and what follows.
fn first_part(text: &str) -> Option<(Duration, &str)> {
    let number_ends = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, rest) = text.split_at(number_ends);
    let unit_ends = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_ends);
    let seconds = match unit {
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((Duration::try_from_secs_f64(number * seconds).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_a_duration_within_bounds_or_refused(
            text in prop_oneof![".*", "([0-9.]{0,20}(h|m|s|ms|us|µs|ns|d)?){0,5}"]
        ) {
            if let Ok(duration) = backoff(&text) {
                prop_assert!(duration >= Duration::from_secs(1), "{}", text);
                prop_assert!(duration <= Duration::from_secs(1000), "{}", text);
            }
            let _ = (timeout(&text), resync(&text));
        }

        #[test]
        fn hours_minutes_and_seconds_add_up(hours in 0_u64..100, minutes in 0_u64..600, seconds in 0_u64..6000) {
            let total = Duration::from_secs(hours * 3600 + minutes * 60 + seconds);
            prop_assert_eq!(parse(&format!("{hours}h{minutes}m{seconds}s")), Ok(total));
        }
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let cases = [
            ("0", Duration::ZERO),
            ("0s", Duration::ZERO),
            ("300ms", Duration::from_millis(300)),
            ("5m", Duration::from_mins(5)),
            ("1m30s", Duration::from_secs(90)),
            ("1.5h", Duration::from_mins(90)),
            ("1h0m0.5s", Duration::from_millis(3_600_500)),
            ("7us", Duration::from_micros(7)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        let longest = format!("{}h", "9".repeat(400));
        for text in ["", "5", "m", "5 m", "-5m", "5d", "1..5s", "5mm", "inf", "5m ", &longest] {
            assert_eq!(parse(text), Err(HINT.to_owned()), "{text}");
        }
    }

    #[test]
    fn bounds_are_kept() {
        assert!(backoff("999ms").is_err() && backoff("1s").is_ok());
        assert!(backoff("1000s").is_ok() && backoff("1001s").is_err());
        assert!(timeout("0").is_err() && timeout("1h").is_ok() && timeout("61m").is_err());
        assert!(resync("0").is_ok() && resync("59s").is_err() && resync("1m").is_ok());
    }
}
