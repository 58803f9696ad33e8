//! An amount of a resource as people write it: `500m`, `1Gi`, or a plain number.
//!
//! Not k8s-openapi's type, whose schema refuses `cpu: 1` because it is not a string.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What Kubernetes parses, without a sign: an amount is never negative.
const PATTERN: &str = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)))?$";

/// More digits than anything has.
const LONGEST: usize = 32;

/// An amount of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A plain number, such as `cpu: 1`.
    Number(i64),
    /// A number with a unit, such as `memory: 1Gi`.
    Text(String),
}

impl Quantity {
    /// Whether it is as the schema demands, which that of another release may not have done.
    pub fn is_amount(&self) -> bool {
        match self {
            Self::Number(number) => *number >= 0,
            Self::Text(text) => is_amount(text),
        }
    }
}

/// As [`PATTERN`] says.
fn is_amount(text: &str) -> bool {
    let (number, unit) = match text.find(|it: char| !it.is_ascii_digit() && it != '.') {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let is_exponent = |rest: &str| is_number(rest.strip_prefix(['+', '-']).unwrap_or(rest));
    let is_unit = match unit {
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti"
        | "Pi" | "Ei" => true,
        other => other.strip_prefix(['e', 'E']).is_some_and(is_exponent),
    };
    is_number(number) && is_unit && text.len() <= LONGEST
}

fn is_number(text: &str) -> bool {
    let (digits, dots) = (text.bytes().filter(u8::is_ascii_digit), text.matches('.').count());
    let digits = digits.count();
    digits > 0 && dots <= 1 && digits + dots == text.len()
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
        }
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "pattern": PATTERN,
            "minimum": 0,
            "maxLength": LONGEST,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_what_the_pattern_says() {
        for text in ["1", "1.", ".5", "1.5", "500m", "1Gi", "1e9", "1E-3", "1e+3", "7E"] {
            assert!(is_amount(text), "{text}");
        }
        for text in ["", ".", "much", "-1", "1 Gi", "1.2.3", "1GI", "1e", "1e+", "Gi", "1\n"] {
            assert!(!is_amount(text), "{text}");
        }
        assert!(!is_amount(&"1".repeat(LONGEST + 1)));
        assert!(Quantity::Number(0).is_amount() && !Quantity::Number(-1).is_amount());
    }
}
