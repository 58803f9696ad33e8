//! Bounds of integer fields, narrowed by whoever installs a definition.
//!
//! Never widens: what the code relies on stays true. Fields of the status are the operator's own and
//! cannot be narrowed.

mod field;
mod range;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps,
};

use field::Field;
use range::Range;

/// A field, and the least and the greatest value that it may have: `spec.size=1..5`.
///
/// A field of the items of a list is `spec.members[].port`, one of the values of a map `spec.pools{}.size`.
/// An end that is left out stays as it is.
///
/// ```
/// use kubewright::generate::crd::bounds::Bounds;
///
/// let bounds: Bounds = "spec.size=1..5".parse().unwrap();
/// assert_eq!(bounds.to_string(), "spec.size=1..5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    field: Field,
    range: Range,
}

/// Why a definition cannot be narrowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text says nothing.
    #[error("`{0}` is not of the form FIELD=MIN..MAX with whole numbers, as in spec.size=1..5")]
    Unreadable(String),
    /// No value is left.
    #[error("`{asked}` leaves no value: the field takes {allowed}")]
    Empty {
        /// What was asked for.
        asked: String,
        /// What the field takes.
        allowed: String,
    },
    /// No kind has such a field.
    #[error("there is no integer field `{field}`; there is {}", fields.join(", "))]
    NoSuchField {
        /// What was asked for.
        field: String,
        /// What there is.
        fields: Vec<String>,
    },
    /// It would allow what the code does not.
    #[error("`{asked}` is wider than what the operator can do: the field takes {allowed}")]
    Wider {
        /// What was asked for.
        asked: String,
        /// What the field takes.
        allowed: String,
    },
}

impl FromStr for Bounds {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parsed = text.split_once('=').and_then(|(field, range)| {
            Some(Self { field: Field::parse(field)?, range: Range::parse(range)? })
        });
        parsed.ok_or_else(|| Error::Unreadable(text.to_owned()))
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |end: Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
        let Range { lowest, highest } = self.range;
        write!(formatter, "{}={}..{}", self.field, end(lowest), end(highest))
    }
}

/// Narrows the fields in every version of every definition that has them. A default that is out of
/// bounds then becomes the lowest value that is not.
pub fn narrow(
    definitions: &mut [CustomResourceDefinition],
    bounds: &[Bounds],
) -> Result<(), Error> {
    bounds.iter().try_for_each(|bounds| {
        let mut is_found = false;
        for schema in schemas(definitions) {
            if let Some(found) = bounds.field.find(schema) {
                let range = bounds.within(Range::of(found))?;
                lower(schema, &bounds.field, range);
                is_found = true;
            }
        }
        if is_found { Ok(()) } else { Err(bounds.missing(definitions)) }
    })
}

fn schemas(
    definitions: &mut [CustomResourceDefinition],
) -> impl Iterator<Item = &mut JSONSchemaProps> {
    let versions = definitions.iter_mut().flat_map(|definition| &mut definition.spec.versions);
    versions.filter_map(|version| version.schema.as_mut()?.open_api_v3_schema.as_mut())
}

/// Narrows the field, and the defaults of it and of all that it is in.
fn lower(schema: &mut JSONSchemaProps, field: &Field, range: Range) {
    let mut steps = field.steps();
    let mut schema = Some(schema);
    while let Some(at) = schema {
        if let Some(JSON(default)) = &mut at.default {
            field::each(default, steps, &mut |value| range.clamp(value));
        }
        let Some((step, rest)) = steps.split_first() else { return range.set(at) };
        steps = rest;
        schema = step.child(at);
    }
}

impl Bounds {
    /// What is left of what the field `takes`.
    fn within(&self, takes: Range) -> Result<Range, Error> {
        let (asked, allowed) = (self.to_string(), takes.to_string());
        let Range { lowest, highest } = self.range;
        let is_wider = lowest.zip(takes.lowest).is_some_and(|(asked, least)| asked < least)
            || highest.zip(takes.highest).is_some_and(|(asked, greatest)| asked > greatest);
        let left = Range { lowest: lowest.or(takes.lowest), highest: highest.or(takes.highest) };
        match left.is_empty() {
            _ if is_wider => Err(Error::Wider { asked, allowed }),
            true => Err(Error::Empty { asked, allowed }),
            false => Ok(left),
        }
    }

    fn missing(&self, definitions: &mut [CustomResourceDefinition]) -> Error {
        let mut fields: Vec<_> = schemas(definitions).flat_map(field::all).collect();
        fields.sort();
        fields.dedup();
        if fields.is_empty() {
            fields.push("none at all".to_owned());
        }
        Error::NoSuchField { field: self.field.to_string(), fields }
    }
}
