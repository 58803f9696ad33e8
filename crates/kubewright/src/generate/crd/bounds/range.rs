//! A range of whole numbers, and how a schema writes it.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Value, json};

/// The greatest whole number up to which a schema, whose bounds are floating-point numbers, is exact.
const EXACT: i64 = 1 << 53;

/// Both ends are in it; none means that there is no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) lowest: Option<i64>,
    pub(super) highest: Option<i64>,
}

impl Range {
    /// `1..5`, `1..` or `..5`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (lowest, highest) = text.trim().split_once("..")?;
        let range = Self { lowest: end(lowest)?, highest: end(highest)? };
        (range != Self { lowest: None, highest: None }).then_some(range)
    }

    /// What an integer field takes.
    pub(super) fn of(schema: &JSONSchemaProps) -> Self {
        let is_int32 = schema.format.as_deref() == Some("int32");
        let inner = |is_exclusive: Option<bool>| i64::from(is_exclusive == Some(true));
        let lowest = schema
            .minimum
            .map(|lowest| whole(lowest.ceil()) + inner(schema.exclusive_minimum))
            .or(is_int32.then_some(i64::from(i32::MIN)));
        let highest = schema
            .maximum
            .map(|highest| whole(highest.floor()) - inner(schema.exclusive_maximum))
            .or(is_int32.then_some(i64::from(i32::MAX)));
        Self { lowest, highest }
    }

    pub(super) fn is_empty(self) -> bool {
        self.lowest.zip(self.highest).is_some_and(|(lowest, highest)| lowest > highest)
    }

    /// Writes the range into a schema.
    pub(super) fn set(self, schema: &mut JSONSchemaProps) {
        schema.minimum = self.lowest.map(float);
        schema.maximum = self.highest.map(float);
        schema.exclusive_minimum = None;
        schema.exclusive_maximum = None;
    }

    /// Puts a number that is out of the range on its lowest.
    pub(super) fn clamp(self, value: &mut Value) {
        let Some(number) = value.as_i64() else { return };
        let is_low = self.lowest.is_some_and(|lowest| number < lowest);
        let is_high = self.highest.is_some_and(|highest| number > highest);
        if let Some(end) = self.lowest.or(self.highest).filter(|_| is_low || is_high) {
            *value = json!(end);
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lowest, self.highest) {
            (Some(lowest), Some(highest)) => write!(formatter, "{lowest} to {highest}"),
            (Some(lowest), None) => write!(formatter, "{lowest} and more"),
            (None, Some(highest)) => write!(formatter, "{highest} and less"),
            (None, None) => formatter.write_str("any whole number"),
        }
    }
}

/// An end of a range; the inner none for one that was left out.
#[expect(clippy::option_option, reason = "unreadable, left out, and given are three things")]
fn end(text: &str) -> Option<Option<i64>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(None);
    }
    text.parse().ok().filter(|end: &i64| (-EXACT..=EXACT).contains(end)).map(Some)
}

#[expect(clippy::cast_precision_loss, reason = "a bound is at most 2^53, or came from a schema")]
fn float(end: i64) -> f64 {
    end as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it saturates, which is the end of what there is"
)]
fn whole(end: f64) -> i64 {
    (end as i64).clamp(i64::MIN + 1, i64::MAX - 1) // room for an end that is not in the range itself
}
