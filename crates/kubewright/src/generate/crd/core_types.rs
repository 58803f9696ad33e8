//! What is known of the core types that a schema may embed.
//!
//! A schema is printed without the names of its types, but with their texts; so a core type is known
//! by its text, which no author's type has.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use serde_json::json;

use crate::intent;

/// Lists that the API server merges by key: their field, the keys, and what a key is if left out
/// (a key must be required or have a default). The other lists of core types are atomic, as are lists
/// of which nothing is said.
const MAPS: &[(&str, &[&str], Option<&str>)] = &[
    ("claims", &["name"], None),
    ("containers", &["name"], None),
    ("env", &["name"], None),
    ("ephemeralContainers", &["name"], None),
    ("hostAliases", &["ip"], None),
    ("imagePullSecrets", &["name"], Some("")),
    ("initContainers", &["name"], None),
    ("ports", &["containerPort", "protocol"], Some("TCP")),
    ("ports", &["port", "protocol"], Some("TCP")),
    ("resourceClaims", &["name"], None),
    ("schedulingGates", &["name"], None),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"], None),
    ("volumeDevices", &["devicePath"], None),
    ("volumeMounts", &["mountPath"], None),
    ("volumes", &["name"], None),
];

/// The digests of every description of the kinds that operators embed, or embed a part of. The texts
/// themselves, and the code that makes them, would be a sixth of an operator.
static DIGESTS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("core_types/digests.txt").lines().collect());

/// True if a core type is described by this text.
pub(super) fn is_text(description: &str) -> bool {
    DIGESTS.contains(digest(description).as_str())
}

/// A text as a line of the file.
fn digest(text: &str) -> String {
    format!("{:016x}", intent::digest(text.as_bytes()))
}

/// Says of the lists in a core type by what key they are merged.
pub(super) fn annotate_lists(schema: &mut JSONSchemaProps) {
    for (name, list) in schema.properties.iter_mut().flatten() {
        if !list.description.as_deref().is_some_and(is_text) {
            continue;
        }
        for (_, keys, default) in MAPS.iter().filter(|(field, _, _)| field == name) {
            annotate(list, keys, *default);
        }
    }
}

fn annotate(list: &mut JSONSchemaProps, keys: &[&str], default: Option<&str>) {
    let Some(JSONSchemaPropsOrArray::Schema(item)) = &mut list.items else { return };
    let Some(properties) = &mut item.properties else { return };
    if !keys.iter().all(|key| properties.contains_key(*key)) {
        return;
    }
    let required = item.required.as_deref().unwrap_or_default();
    let optional = |key: &&&str| !required.iter().any(|one| one == **key);
    for key in keys.iter().filter(optional) {
        let Some(default) = default else { return };
        if let Some(property) = properties.get_mut(*key) {
            property.default = Some(JSON(json!(default)));
        }
    }
    list.x_kubernetes_list_type = Some("map".to_owned());
    list.x_kubernetes_list_map_keys = Some(keys.iter().map(ToString::to_string).collect());
}
