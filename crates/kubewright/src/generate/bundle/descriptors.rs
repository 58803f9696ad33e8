//! What a console shows of a kind: a name and a widget for each field.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionVersion, JSONSchemaProps,
};
use serde_json::{Value, json};

const UI: &str = "urn:alm:descriptor:com.tectonic.ui";
const CONDITIONS: &str = "urn:alm:descriptor:io.kubernetes.conditions";

/// The descriptors of a part of the object, `spec` or `status`.
pub(super) fn descriptors(version: &CustomResourceDefinitionVersion, part: &str) -> Vec<Value> {
    let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref());
    let root = schema.and_then(|schema| schema.properties.as_ref());
    let properties = root.and_then(|root| root.get(part)?.properties.as_ref());
    let subresources = version.subresources.as_ref();
    let scale = subresources.and_then(|subresources| subresources.scale.as_ref());
    let counts = scale.map(|scale| [&scale.spec_replicas_path, &scale.status_replicas_path]);
    let one = |(name, schema): (&String, &JSONSchemaProps)| {
        let path = format!(".{part}.{name}");
        let is_count = counts.is_some_and(|counts| counts.contains(&&path));
        let widget = if is_count { format!("{UI}:podCount") } else { widget(name, schema) };
        let mut descriptor = json!({"path": name, "displayName": title(name)});
        if let Some(description) = &schema.description {
            descriptor["description"] = json!(description);
        }
        if !widget.is_empty() {
            descriptor["x-descriptors"] = json!([widget]);
        }
        descriptor
    };
    properties.into_iter().flatten().map(one).collect()
}

/// How a value is shown and edited; empty if as text.
fn widget(name: &str, schema: &JSONSchemaProps) -> String {
    match (name, schema.type_.as_deref()) {
        ("conditions", Some("array")) => CONDITIONS.to_owned(),
        ("resources", Some("object")) => format!("{UI}:resourceRequirements"),
        (_, Some("integer" | "number")) => format!("{UI}:number"),
        (_, Some("boolean")) => format!("{UI}:booleanSwitch"),
        (_, Some("string")) => format!("{UI}:text"),
        _ => String::new(),
    }
}

/// `containerPort` is `Container Port`.
pub(super) fn title(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.chars().enumerate() {
        if at == 0 {
            text.extend(letter.to_uppercase());
        } else {
            if letter.is_uppercase() {
                text.push(' ');
            }
            text.push(letter);
        }
    }
    text
}
