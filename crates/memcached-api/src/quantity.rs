//! An amount of a resource as people write it: `500m`, `1Gi`, or a plain number.
//!
//! Not k8s-openapi's type, whose schema refuses `cpu: 1` because it is not a string.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What Kubernetes parses, without a sign: an amount is never negative.
const PATTERN: &str = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)))?$";

/// An amount of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A plain number, such as `cpu: 1`.
    Number(i64),
    /// A number with a unit, such as `memory: 1Gi`.
    Text(String),
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
            "maxLength": 32,
        })
    }
}
