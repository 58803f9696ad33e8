//! When two values mean the same although they are written differently.

use jiff::Timestamp;
use serde_json::Value;

/// Suffixes of quantities, with what they stand for.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// Equal, where 1 is 1.0, an instant may be written with or without its zeros, and a null in an object
/// counts as absent.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let present = |value: &&Value| !value.is_null();
            let counts =
                (left.values().filter(present).count(), right.values().filter(present).count());
            counts.0 == counts.1
                && left
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .all(|(key, value)| right.get(key).is_some_and(|right| same(value, right)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::String(left), Value::String(right)) => left == right || same_instant(left, right),
        _ => left == right,
    }
}

/// True if all that is in `part` is also in `whole`, where quantities may be spelled differently and the
/// server may have left out what is empty.
pub(crate) fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, part)| {
            whole.get(key).map_or_else(|| is_empty(part), |whole| is_within(part, whole))
        }),
        (Value::Array(part), Value::Array(whole)) => {
            part.iter().all(|part| whole.iter().any(|whole| is_within(part, whole)))
        }
        _ => same(part, whole) || same_quantity(part, whole),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

fn same_instant(left: &str, right: &str) -> bool {
    // Only what can be one: parsing every string that differs would be a waste.
    let is_candidate = |text: &str| text.len() >= 20 && text.as_bytes()[4] == b'-';
    is_candidate(left)
        && is_candidate(right)
        && matches!((left.parse::<Timestamp>(), right.parse::<Timestamp>()), (Ok(l), Ok(r)) if l == r)
}

fn same_quantity(left: &Value, right: &Value) -> bool {
    match (quantity(left), quantity(right)) {
        (Some(left), Some(right)) => (left - right).abs() <= 1e-12 * left.abs().max(right.abs()),
        _ => false,
    }
}

fn quantity(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text,
        _ => return None,
    };
    let suffixed =
        SUFFIXES.iter().find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    let (digits, factor) = suffixed.unwrap_or((text, 1.0));
    // "inf" and "NaN" are numbers to Rust only.
    let number: f64 = digits.parse().ok()?;
    digits.ends_with(|last: char| last.is_ascii_digit() || last == '.').then_some(number * factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_is_recognised_however_it_is_written() {
        for (left, right, expected) in [
            (json!(1), json!(1.0), true),
            (json!(1), json!("1"), false),
            (json!(1), json!(2), false),
            (json!("2026-01-01T00:00:00Z"), json!("2026-01-01T00:00:00.000000000Z"), true),
            (json!("2026-01-01T00:00:00Z"), json!("2026-01-01T01:00:00+01:00"), true),
            (json!("2026-01-01T00:00:00Z"), json!("2026-01-01T00:00:00.5Z"), false),
            (json!("2026-and-no-time-at-all"), json!("2026-nor-is-this-one-"), false),
            (json!({"a": 1, "b": null}), json!({"a": 1}), true),
            (json!({"a": 1}), json!({"b": null, "a": 1, "c": null}), true),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!({"a": 1}), json!({"b": 1}), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!([1]), json!([1, 2]), false),
            (json!(["é€öé€öé€ö"]), json!(["é€öé€öé€a"]), false),
        ] {
            assert_eq!(same(&left, &right), expected, "{left} {right}");
            assert_eq!(same(&right, &left), expected, "{right} {left}");
        }
    }

    #[test]
    fn a_part_is_found_in_what_the_server_made_of_it() {
        for (part, whole, expected) in [
            (json!("1024Mi"), json!("1Gi"), true),
            (json!("0.5"), json!("500m"), true),
            (json!(2), json!("2"), true),
            (json!("1e3"), json!("1k"), true),
            (json!("1Gi"), json!("1G"), false),
            (json!("nan"), json!("inf"), false),
            (json!("m"), json!("k"), false),
            (json!({"a": 1}), json!({"a": 1, "default": 2}), true),
            (json!({"a": 1}), json!({"default": 2}), false),
            (json!({"a": "", "b": [], "c": {}, "d": 0, "e": false, "f": null}), json!({}), true),
            (json!({"a": ""}), json!({"a": "x"}), false),
            (json!([{"a": 1}]), json!([{"foreign": 1}, {"a": 1, "b": 2}]), true),
            (json!([{"a": 1}, {"a": 2}]), json!([{"a": 1}]), false),
        ] {
            assert_eq!(is_within(&part, &whole), expected, "{part} {whole}");
        }
    }
}
