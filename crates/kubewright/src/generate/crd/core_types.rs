//! What is known of the core types that a schema may embed.
//!
//! A schema is printed without the names of its types, but with their texts; so a core type is known
//! by its text, which no author's type has.

use std::collections::HashSet;
use std::sync::LazyLock;

use k8s_openapi::api::{apps, autoscaling, batch, coordination, core, networking, policy, rbac};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use k8s_openapi::apimachinery::pkg::apis::meta;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

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

/// Every description of the kinds that operators embed, or embed a part of.
static TEXTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut generator = SchemaSettings::openapi3().into_generator();
    generator.subschema_for::<apps::v1::DaemonSet>();
    generator.subschema_for::<apps::v1::Deployment>();
    generator.subschema_for::<apps::v1::StatefulSet>();
    generator.subschema_for::<autoscaling::v2::HorizontalPodAutoscaler>();
    generator.subschema_for::<batch::v1::CronJob>();
    generator.subschema_for::<coordination::v1::Lease>();
    generator.subschema_for::<core::v1::ConfigMap>();
    generator.subschema_for::<core::v1::ObjectReference>();
    generator.subschema_for::<core::v1::PersistentVolume>();
    generator.subschema_for::<core::v1::PersistentVolumeClaim>();
    generator.subschema_for::<core::v1::Pod>();
    generator.subschema_for::<core::v1::Secret>();
    generator.subschema_for::<core::v1::SecretReference>();
    generator.subschema_for::<core::v1::Service>();
    generator.subschema_for::<core::v1::ServiceAccount>();
    generator.subschema_for::<meta::v1::Condition>();
    generator.subschema_for::<networking::v1::Ingress>();
    generator.subschema_for::<networking::v1::NetworkPolicy>();
    generator.subschema_for::<policy::v1::PodDisruptionBudget>();
    generator.subschema_for::<rbac::v1::ClusterRole>();
    generator.subschema_for::<rbac::v1::RoleBinding>();
    let mut texts = HashSet::new();
    generator.take_definitions(true).values().for_each(|schema| collect(schema, &mut texts));
    texts
});

fn collect(schema: &Value, texts: &mut HashSet<String>) {
    match schema {
        Value::Object(fields) => {
            // A field may be called `description` too; then it is an object.
            texts.extend(fields.get("description").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| collect(value, texts));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

/// True if a core type is described by this text.
pub(super) fn is_text(description: &str) -> bool {
    TEXTS.contains(description)
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
