//! The fields of a schema as rows of a table, and the rules between them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::code;

/// Path, type, default, what is allowed, description.
pub(super) type Row = [String; 5];

/// What it is of, the rule in CEL, its message.
pub(super) type Rule = [String; 3];

/// The fields below `schema`, which is at `path`.
pub(super) fn collect(
    schema: &JSONSchemaProps,
    path: &str,
    rows: &mut Vec<Row>,
    rules: &mut Vec<Rule>,
) {
    for validation in schema.x_kubernetes_validations.iter().flatten() {
        let of = if path.is_empty() { "the object".to_owned() } else { code(path) };
        let message = validation.message.clone().or(validation.message_expression.clone());
        rules.push([of, code(&validation.rule), message.unwrap_or_default()]);
    }
    let required = schema.required.as_deref().unwrap_or_default();
    for (name, property) in schema.properties.iter().flatten() {
        let is_common = path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&&**name);
        if is_common {
            continue;
        }
        let is_part = path.is_empty() && ["spec", "status"].contains(&&**name);
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if !is_part {
            rows.push(row(&path, property, required.contains(name)));
        }
        collect(property, &path, rows, rules);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(item)) = &schema.items
        && !is_condition(item)
    {
        collect(item, &format!("{path}[]"), rows, rules);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(value)) = &schema.additional_properties {
        collect(value, &format!("{path}{{}}"), rows, rules);
    }
}

fn row(path: &str, schema: &JSONSchemaProps, is_required: bool) -> Row {
    let default = match &schema.default {
        Some(JSON(default)) => code(&default.to_string()),
        None if is_required => "required".to_owned(),
        None => String::new(),
    };
    let description = schema.description.clone().unwrap_or_default();
    [code(path), type_of(schema), default, allowed(schema).join(", "), description]
}

fn type_of(schema: &JSONSchemaProps) -> String {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return "integer or string".to_owned();
    }
    if let Some(JSONSchemaPropsOrArray::Schema(item)) = &schema.items {
        let of = if is_condition(item) { "conditions".to_owned() } else { type_of(item) };
        return format!("list of {of}");
    }
    if let Some(JSONSchemaPropsOrBool::Schema(value)) = &schema.additional_properties {
        return format!("map of {}", type_of(value));
    }
    let type_ = schema.type_.as_deref().unwrap_or("any");
    match schema.format.as_deref() {
        Some(format) => format!("{type_} ({format})"),
        None => type_.to_owned(),
    }
}

/// True for a condition of Kubernetes, which needs no explanation here.
fn is_condition(schema: &JSONSchemaProps) -> bool {
    let has = |name: &str| schema.properties.as_ref().is_some_and(|all| all.contains_key(name));
    ["lastTransitionTime", "message", "reason", "status", "type"].into_iter().all(has)
}

/// What a value must be, beyond its type.
fn allowed(schema: &JSONSchemaProps) -> Vec<String> {
    let mut allowed = Vec::new();
    let values: Vec<_> =
        schema.enum_.iter().flatten().map(|JSON(value)| code(&value.to_string())).collect();
    if !values.is_empty() {
        allowed.push(values.join(" or "));
    }
    allowed.extend(ends(schema.minimum, schema.maximum, ""));
    allowed.extend(ends(schema.min_length, schema.max_length, " characters"));
    allowed.extend(ends(schema.min_items, schema.max_items, " items"));
    allowed.extend(ends(schema.min_properties, schema.max_properties, " entries"));
    allowed.extend(schema.pattern.as_deref().map(code));
    allowed
}

/// One sentence for a range, which may have one end only.
fn ends<N: std::fmt::Display>(lowest: Option<N>, highest: Option<N>, of: &str) -> Option<String> {
    match (lowest, highest) {
        (Some(lowest), Some(highest)) => Some(format!("{lowest} to {highest}{of}")),
        (Some(lowest), None) => Some(format!("at least {lowest}{of}")),
        (None, Some(highest)) => Some(format!("at most {highest}{of}")),
        (None, None) => None,
    }
}
