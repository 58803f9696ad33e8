//! The digests are those of the types that k8s-openapi has.

use std::collections::BTreeSet;

use k8s_openapi::api::{apps, autoscaling, batch, coordination, core, networking, policy, rbac};
use k8s_openapi::apimachinery::pkg::apis::meta;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::digest;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/generate/crd/core_types/digests.txt");

/// The descriptions of the kinds that operators embed, or embed a part of.
fn texts() -> BTreeSet<String> {
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
    let mut texts = BTreeSet::new();
    generator.take_definitions(true).values().for_each(|schema| collect(schema, &mut texts));
    texts
}

fn collect(schema: &Value, texts: &mut BTreeSet<String>) {
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

#[test]
fn every_text_of_a_core_type_is_known_and_no_other() {
    let digests: BTreeSet<String> = texts().iter().map(|text| digest(text) + "\n").collect();
    let digests: String = digests.into_iter().collect();
    if std::env::var_os("UPDATE_DIGESTS").is_some() {
        std::fs::write(FILE, &digests).unwrap();
    }
    let message = "k8s-openapi says something else; write it down with UPDATE_DIGESTS=1";
    assert!(std::fs::read_to_string(FILE).unwrap() == digests, "{message}");
}
