//! Custom resource definitions as people expect them, from what the derive macros print.
//!
//! Changes how a definition is written and what it checks, never which fields it has. Knows nothing of
//! a particular kind.

pub mod bounds;
mod condition;
mod core_types;
mod initial;
#[cfg(test)]
pub(super) mod tests;
mod text;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

pub use initial::initial;

/// The `format`s of a string that the API server knows; it warns of any other.
const STRING_FORMATS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Cleans a definition. Doing it twice is the same as once.
///
/// - Numbers have formats that Kubernetes knows, with bounds in place of `uint8` and the like.
/// - Texts are tidy; those of embedded core types are cut to a sentence, so that a definition with a
///   whole pod in it still fits into the annotation of `kubectl apply`.
/// - Lists of conditions, and the lists of core types, are maps by their keys, and a condition is
///   checked as Kubernetes checks its own.
/// - An optional field takes `null` for "absent". It is `nullable` for that: otherwise a `null` is
///   dropped in a create or an update, but refused in a server-side apply. No enum takes a `null`,
///   not even one that lists it, so an optional enum is not `nullable`, to have it dropped at least.
#[must_use]
pub fn tidy(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        let validation = version.schema.as_mut();
        if let Some(schema) = validation.and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            root(schema);
            node(schema);
        }
    }
    definition
}

/// The object as a whole, with the fields that every object has.
fn root(schema: &mut JSONSchemaProps) {
    // Always the kind's name, which is said elsewhere.
    schema.title = None;
    let properties = schema.properties.get_or_insert_default();
    if schema.description.as_deref().is_none_or(text::is_placeholder) {
        schema.description = properties.get("spec").and_then(|spec| spec.description.clone());
    }
    for (name, type_) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let of_type = JSONSchemaProps { type_: Some(type_.to_owned()), ..Default::default() };
        properties.entry(name.to_owned()).or_insert(of_type);
    }
}

/// One schema and everything below it.
fn node(schema: &mut JSONSchemaProps) {
    core_types::annotate_lists(schema);
    condition::tighten(schema);
    describe(schema);
    format(schema);
    optional(schema);
    schema.required.iter_mut().for_each(|required| required.sort());
    schema.required = schema.required.take().filter(|required| !required.is_empty());
    for_each_child(schema, node);
}

fn for_each_child(schema: &mut JSONSchemaProps, visit: fn(&mut JSONSchemaProps)) {
    schema.properties.iter_mut().flat_map(|map| map.values_mut()).for_each(visit);
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(item)) => visit(item),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(visit),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(value)) = &mut schema.additional_properties {
        visit(value);
    }
    for list in [&mut schema.all_of, &mut schema.any_of, &mut schema.one_of] {
        list.iter_mut().flatten().for_each(visit);
    }
    schema.not.as_deref_mut().into_iter().for_each(visit);
}

fn describe(schema: &mut JSONSchemaProps) {
    let description = schema.description.take().map(|description| {
        if core_types::is_text(&description) {
            text::first_sentence(&description)
        } else {
            text::normalised(&description)
        }
    });
    schema.description = description.filter(|description| !description.is_empty());
}

fn format(schema: &mut JSONSchemaProps) {
    let known = match schema.type_.as_deref() {
        Some("integer") => return integer(schema),
        Some("number") => &["float", "double"],
        _ => STRING_FORMATS,
    };
    schema.format = schema.format.take().filter(|format| known.contains(&format.as_str()));
}

/// Kubernetes knows two formats of an integer; the others become bounds.
fn integer(schema: &mut JSONSchemaProps) {
    let (format, minimum, maximum) = match schema.format.as_deref() {
        Some("int8") => (Some("int32"), Some(f64::from(i8::MIN)), Some(f64::from(i8::MAX))),
        Some("int16") => (Some("int32"), Some(f64::from(i16::MIN)), Some(f64::from(i16::MAX))),
        Some("uint8") => (Some("int32"), Some(0.0), Some(f64::from(u8::MAX))),
        Some("uint16") => (Some("int32"), Some(0.0), Some(f64::from(u16::MAX))),
        Some("uint32") => (Some("int64"), Some(0.0), Some(f64::from(u32::MAX))),
        Some("uint" | "uint64") => (Some("int64"), Some(0.0), None),
        Some("uint128") => (None, Some(0.0), None),
        Some("int32") => (Some("int32"), None, None),
        Some("int" | "int64") => (Some("int64"), None, None),
        _ => (None, None, None),
    };
    schema.format = format.map(str::to_owned);
    schema.minimum = schema.minimum.or(minimum);
    schema.maximum = schema.maximum.or(maximum);
}

/// Says in one way that a field is optional.
fn optional(schema: &mut JSONSchemaProps) {
    if let Some(alternatives) = &mut schema.any_of {
        let before = alternatives.len();
        alternatives.retain(|alternative| !is_only_null(alternative));
        if alternatives.len() < before {
            schema.nullable = Some(true);
        }
        if alternatives.iter().all(|alternative| *alternative == JSONSchemaProps::default()) {
            schema.any_of = None;
        }
    }
    if let Some(values) = &mut schema.enum_ {
        values.retain(|JSON(value)| !value.is_null());
        schema.nullable = None;
    }
    schema.nullable = schema.nullable.filter(|is_nullable| *is_nullable);
    schema.default = schema.default.take().filter(|JSON(value)| !value.is_null());
}

/// The alternative that stands for `None`.
fn is_only_null(schema: &JSONSchemaProps) -> bool {
    let enum_ = Some(vec![JSON(Value::Null)]);
    *schema == JSONSchemaProps { enum_, nullable: Some(true), ..JSONSchemaProps::default() }
}
