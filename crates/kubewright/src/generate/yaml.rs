//! YAML as people know it from kubectl, the same text for the same value.
//!
//! Readers of Kubernetes' files follow YAML 1.1 or 1.2, so a string stands without quotes only where
//! neither would take it for something else.

mod scalar;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Map, Value};

/// Stand first in an object that has them, in this order; the other keys follow by the alphabet.
const FIRST: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// A value cannot be written as YAML, because it cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("cannot write a value as YAML")]
pub struct Error(#[source] serde_json::Error);

/// One document, with a newline at its end.
pub fn yaml(value: &impl Serialize) -> Result<String, Error> {
    let value = serde_json::to_value(value).map_err(Error)?;
    let mut text = String::new();
    match &value {
        Value::Object(fields) if !fields.is_empty() => object(fields, 0, &mut text),
        Value::Array(items) if !items.is_empty() => array(items, 0, &mut text),
        _ => line(&value, 0, &mut text),
    }
    Ok(text)
}

/// Documents one after the other, with `---` between.
pub fn documents(values: &[impl Serialize]) -> Result<String, Error> {
    let texts: Result<Vec<_>, _> = values.iter().map(yaml).collect();
    Ok(texts?.join("---\n"))
}

/// The text stands at the column `indent` already.
fn object(fields: &Map<String, Value>, indent: usize, text: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(key, _)| {
        (FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()), *key)
    });
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            spaces(indent, text);
        }
        text.push_str(&scalar::key(key));
        text.push(':');
        field(value, indent, text);
    }
}

fn field(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            spaces(indent + 2, text);
            object(fields, indent + 2, text);
        }
        // A list is as far to the left as the key that it belongs to.
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            spaces(indent, text);
            array(items, indent, text);
        }
        _ => line(value, indent, text),
    }
}

fn array(items: &[Value], indent: usize, text: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            spaces(indent, text);
        }
        text.push('-');
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                text.push(' ');
                object(fields, indent + 2, text);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push(' ');
                array(items, indent + 2, text);
            }
            _ => line(item, indent, text),
        }
    }
}

fn line(value: &Value, indent: usize, text: &mut String) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(&scalar::scalar(value, indent + 2));
    // A block of lines ends with its own newline.
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

fn spaces(count: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', count));
}
