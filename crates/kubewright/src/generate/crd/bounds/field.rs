//! Where in a schema, or in a value, a field is.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

/// The way to a field, from the object as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field(Vec<Step>);

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To the property of this name.
    Property(String),
    /// To the items of a list, written `[]`.
    Items,
    /// To the values of a map, written `{}`.
    Values,
}

impl Field {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        for part in text.trim().split('.') {
            let name = part.trim_end_matches(['[', ']', '{', '}']);
            let mut brackets = part.strip_prefix(name)?;
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Property(name.to_owned()));
            while !brackets.is_empty() {
                let (step, rest) = match brackets.strip_prefix("[]") {
                    Some(rest) => (Step::Items, rest),
                    None => (Step::Values, brackets.strip_prefix("{}")?),
                };
                steps.push(step);
                brackets = rest;
            }
        }
        Some(Self(steps))
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The field in `schema`, if it is an integer that people set.
    pub(super) fn find<'a>(
        &self,
        schema: &'a mut JSONSchemaProps,
    ) -> Option<&'a mut JSONSchemaProps> {
        if !self.0.first().is_some_and(Step::is_set_by_people) {
            return None;
        }
        let found = self.0.iter().try_fold(schema, |schema, step| step.child(schema))?;
        is_integer(found).then_some(found)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, step)| match step {
            Step::Property(name) if at == 0 => formatter.write_str(name),
            Step::Property(name) => write!(formatter, ".{name}"),
            Step::Items => formatter.write_str("[]"),
            Step::Values => formatter.write_str("{}"),
        })
    }
}

impl Step {
    /// Where the step leads.
    pub(super) fn child<'a>(
        &self,
        schema: &'a mut JSONSchemaProps,
    ) -> Option<&'a mut JSONSchemaProps> {
        match self {
            Self::Property(name) => schema.properties.as_mut()?.get_mut(name),
            Self::Items => match schema.items.as_mut()? {
                JSONSchemaPropsOrArray::Schema(item) => Some(item),
                JSONSchemaPropsOrArray::Schemas(_) => None,
            },
            Self::Values => match schema.additional_properties.as_mut()? {
                JSONSchemaPropsOrBool::Schema(value) => Some(value),
                JSONSchemaPropsOrBool::Bool(_) => None,
            },
        }
    }

    fn is_set_by_people(&self) -> bool {
        !matches!(self, Self::Property(name) if name == "status" || name == "metadata")
    }
}

/// Every integer field that people set.
pub(super) fn all(schema: &mut JSONSchemaProps) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, &mut Field(Vec::new()), &mut found);
    found
}

fn collect(schema: &mut JSONSchemaProps, field: &mut Field, found: &mut Vec<String>) {
    if is_integer(schema) {
        found.push(field.to_string());
    }
    let names: Vec<_> = schema.properties.iter().flat_map(|map| map.keys().cloned()).collect();
    let is_root = field.0.is_empty();
    let steps = names.into_iter().map(Step::Property).chain([Step::Items, Step::Values]);
    for step in steps.filter(|step| !is_root || step.is_set_by_people()) {
        let Some(child) = step.child(schema) else { continue };
        field.0.push(step);
        collect(child, field, found);
        field.0.pop();
    }
}

fn is_integer(schema: &JSONSchemaProps) -> bool {
    schema.type_.as_deref() == Some("integer")
}

/// Visits what is at the end of `steps` in `value`, wherever that is.
pub(super) fn each(value: &mut Value, steps: &[Step], visit: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = steps.split_first() else { return visit(value) };
    match (step, value) {
        (Step::Property(name), Value::Object(fields)) => {
            if let Some(value) = fields.get_mut(name) {
                each(value, rest, visit);
            }
        }
        (Step::Items, Value::Array(items)) => {
            for value in items {
                each(value, rest, visit);
            }
        }
        (Step::Values, Value::Object(fields)) => {
            for value in fields.values_mut() {
                each(value, rest, visit);
            }
        }
        _ => {}
    }
}
