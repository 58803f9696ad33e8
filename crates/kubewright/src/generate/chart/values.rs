//! The values of a chart as three files: with comments for people who set them, as a schema that refuses what
//! is not there by its name, and as a table.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::settings::{Setting, object};
use crate::generate::yaml;

/// `values.yaml`, without its first line.
pub(super) fn values(settings: &[Setting]) -> Result<String, yaml::Error> {
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    for setting in settings {
        let mut parents: Vec<_> = setting.path.split('.').collect();
        let name = parents.pop().unwrap_or_default();
        let known = parents.iter().zip(&open).take_while(|(one, other)| one == other).count();
        if known == 0 {
            text.push('\n');
        }
        for (depth, parent) in parents.iter().enumerate().skip(known) {
            let _ = writeln!(text, "{}{parent}:", "  ".repeat(depth)); // to a string: does not fail
        }
        let field = yaml::yaml(&json!({name: setting.default}))?;
        let indent = "  ".repeat(parents.len());
        let _ = writeln!(text, "{indent}# {}.", setting.about);
        text.extend(field.lines().map(|line| format!("{indent}{line}\n")));
        open = parents;
    }
    Ok(text)
}

/// `values.schema.json`.
pub(super) fn schema(settings: &[Setting]) -> Value {
    let mut root = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        // Not for people: Helm gives these two to a chart that is a part of another.
        "properties": {"global": {"type": "object"}, "enabled": {"type": "boolean"}},
    });
    for setting in settings {
        let mut parents: Vec<_> = setting.path.split('.').collect();
        let name = parents.pop().unwrap_or_default();
        let mut place = &mut root;
        for parent in parents {
            place = &mut place["properties"][parent];
            if place.is_null() {
                *place = object(&json!({}));
            }
        }
        place["properties"][name] = setting.schema.clone();
        place["properties"][name]["description"] = json!(setting.about);
    }
    root
}

/// The rows of the table.
pub(super) fn table(settings: &[Setting]) -> String {
    let mut text = String::from("| value | what it is for | default |\n|---|---|---|\n");
    for Setting { path, about, default, .. } in settings {
        let about = about.replace('|', "\\|");
        let _ = writeln!(text, "| `{path}` | {about} | `{default}` |");
    }
    text
}
