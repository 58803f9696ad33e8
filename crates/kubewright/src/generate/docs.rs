//! A reference of the kinds for people, as Markdown, from the definitions alone: what is not in a
//! definition is not true of the kind.

mod fields;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionVersion,
    JSONSchemaProps,
};
use serde_json::Value;

/// The reference of all kinds, the same text for the same definitions.
pub fn docs(definitions: &[CustomResourceDefinition]) -> String {
    let mut text = "# API reference\n".to_owned();
    for definition in definitions {
        for version in &definition.spec.versions {
            kind(definition, version, &mut text);
        }
    }
    text
}

fn kind(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    text: &mut String,
) {
    let spec = &definition.spec;
    let _ = write!(text, "\n## {} {}\n\n", spec.names.kind, version.name);
    text.push_str(&summary(definition, version));
    let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref());
    let Some(schema) = schema else { return };
    if let Some(description) = &schema.description {
        let _ = write!(text, "\n{description}\n");
    }
    let (mut rows, mut rules) = (Vec::new(), Vec::new());
    fields::collect(schema, "", &mut rows, &mut rules);
    let (status, wanted): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row[0].starts_with("`status"));
    let head = ["field", "type", "default", "allowed", "description"];
    table("Fields that you set", &head, &wanted, text);
    table("Fields that the operator sets", &head, &status, text);
    table(
        "Conditions of a new object",
        &["type", "status", "reason", "message"],
        &initial(schema),
        text,
    );
    table("Rules", &["of", "rule", "message"], &rules, text);
    table(
        "Columns of `kubectl get`",
        &["column", "field", "shown", "description"],
        &columns(version),
        text,
    );
}

/// How the kind is called, and what can be done with it.
fn summary(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
) -> String {
    let spec = &definition.spec;
    let names = &spec.names;
    let mut rows = vec![
        ["apiVersion".to_owned(), code(&format!("{}/{}", spec.group, version.name))],
        ["resource".to_owned(), code(&format!("{}.{}", names.plural, spec.group))],
        ["scope".to_owned(), spec.scope.clone()],
    ];
    for (name, list) in [("short names", &names.short_names), ("categories", &names.categories)] {
        let list: Vec<_> = list.iter().flatten().map(|one| code(one)).collect();
        if !list.is_empty() {
            rows.push([name.to_owned(), list.join(", ")]);
        }
    }
    let scale = version.subresources.as_ref().and_then(|subresources| subresources.scale.as_ref());
    if let Some(scale) = scale {
        let mut paths = vec![&scale.spec_replicas_path, &scale.status_replicas_path];
        paths.extend(&scale.label_selector_path);
        let paths: Vec<_> = paths.into_iter().map(|path| field(path)).collect();
        rows.push(["scale (`kubectl scale`, autoscalers)".to_owned(), paths.join(", ")]);
    }
    let mut text = "| | |\n|---|---|\n".to_owned();
    for [name, value] in rows {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text
}

/// The conditions that the schema gives to a new object.
fn initial(schema: &JSONSchemaProps) -> Vec<[String; 4]> {
    let status = schema.properties.as_ref().and_then(|properties| properties.get("status"));
    let default = status.and_then(|status| status.default.as_ref());
    let conditions = default.and_then(|default| default.0["conditions"].as_array());
    let text = |condition: &Value, field| condition[field].as_str().unwrap_or_default().to_owned();
    let row = |condition| {
        let [type_, status, reason, message] =
            ["type", "status", "reason", "message"].map(|field| text(condition, field));
        [code(&type_), status, reason, message]
    };
    conditions.into_iter().flatten().map(row).collect()
}

fn columns(version: &CustomResourceDefinitionVersion) -> Vec<[String; 4]> {
    let columns = version.additional_printer_columns.iter().flatten();
    let row = |column: &CustomResourceColumnDefinition| {
        let shown =
            if column.priority.unwrap_or_default() > 0 { "with `-o wide`" } else { "always" };
        let description = column.description.clone().unwrap_or_default();
        [column.name.clone(), field(&column.json_path), shown.to_owned(), description]
    };
    columns.map(row).collect()
}

/// A section with a table; nothing if there is nothing in it.
fn table<const N: usize>(title: &str, head: &[&str; N], rows: &[[String; N]], text: &mut String) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(text, "\n### {title}\n\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.each_ref().map(|cell| escaped(cell)).join(" | "));
    }
}

/// A cell ends at a bar and a row at the end of a line.
fn escaped(cell: &str) -> String {
    let lines: Vec<_> = cell.lines().map(str::trim).collect();
    lines.join("<br>").replace("<br><br>", "<br>").replace('|', "\\|")
}

/// `.spec.size` as people write it.
fn field(path: &str) -> String {
    code(path.trim_start_matches('.'))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}
