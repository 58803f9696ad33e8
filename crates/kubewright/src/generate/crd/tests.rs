//! The definitions of two kinds that have everything, as values and on a real API server.

pub(in crate::generate) mod fixture;
mod server;

use kube::CustomResourceExt as _;
use serde_json::{Value, json};

use super::*;
use fixture::{Everything, Podded};

/// What a version of the tidy definition checks, at a path below its root.
fn schema(definition: CustomResourceDefinition, path: &str) -> Value {
    let definition = json!(tidy(definition));
    let root = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let steps = path.split('.').filter(|step| !step.is_empty());
    steps.fold(root.clone(), |schema, step| match step {
        "[]" => schema["items"].clone(),
        _ => schema["properties"][step].clone(),
    })
}

#[test]
fn twice_is_the_same_as_once() {
    for definition in [Everything::crd(), Podded::crd()] {
        let once = tidy(definition);
        assert_eq!(tidy(once.clone()), once);
    }
}

#[test]
fn integers_have_formats_that_kubernetes_knows_and_bounds() {
    for (field, format, minimum, maximum) in [
        ("uint8", "int32", json!(0.0), json!(255.0)),
        ("uint16", "int32", json!(0.0), json!(65_535.0)),
        ("uint32", "int64", json!(0.0), json!(4_294_967_295.0)),
        ("uint64", "int64", json!(0.0), Value::Null),
        ("uint", "int64", json!(0.0), Value::Null),
        ("int8", "int32", json!(-128.0), json!(127.0)),
        ("int16", "int32", json!(-32_768.0), json!(32_767.0)),
        ("int32", "int32", Value::Null, Value::Null),
        ("int64", "int64", Value::Null, Value::Null),
        ("int", "int64", Value::Null, Value::Null),
        ("ranged", "int32", json!(1.0), json!(10.0)),
    ] {
        let schema = schema(Everything::crd(), &format!("spec.{field}"));
        let found = (&schema["format"], &schema["minimum"], &schema["maximum"]);
        assert_eq!(found, (&json!(format), &minimum, &maximum), "{field}");
    }
}

#[test]
fn formats_that_kubernetes_does_not_know_go_and_the_others_stay() {
    assert_eq!(schema(Everything::crd(), "spec.address"), json!({ "type": "string" }));
    for (field, format) in
        [("float", "float"), ("double", "double"), ("optional.time", "date-time")]
    {
        assert_eq!(schema(Everything::crd(), &format!("spec.{field}"))["format"], format);
    }
}

#[test]
fn an_optional_field_is_nullable_unless_it_is_an_enum() {
    for field in ["any", "boolean", "described", "list", "number", "quantity", "target", "time"] {
        let schema = schema(Everything::crd(), &format!("spec.optional.{field}"));
        assert_eq!(schema["nullable"], json!(true), "{field}");
    }
    for field in ["level", "describedLevel"] {
        let schema = schema(Everything::crd(), &format!("spec.optional.{field}"));
        assert_eq!(schema["nullable"], Value::Null, "{field}");
        assert_eq!(schema["enum"], json!(["Quiet", "Loud"]), "{field}");
    }
}

#[test]
fn an_alternative_that_is_only_null_becomes_nullable() {
    let mut raw: JSONSchemaProps = serde_json::from_value(json!({
        "anyOf": [{}, { "enum": [null], "nullable": true }], "type": "string", "default": null,
    }))
    .unwrap();
    // Serialised, an absent default and one that is null look alike.
    raw.default = Some(JSON(Value::Null));
    node(&mut raw);
    assert_eq!(json!(raw), json!({ "type": "string", "nullable": true }));
}

#[test]
fn the_authors_words_stay_and_others_are_cut_to_a_sentence() {
    let own = "How loud it is.\n\n- Quiet: not.\n  - Loud: very. More of the author's own words.";
    assert_eq!(schema(Everything::crd(), "spec.level")["description"], own);
    assert_eq!(
        schema(Everything::crd(), "spec.quantity")["description"],
        "Quantity is a fixed-point representation of a number."
    );
    assert_eq!(
        schema(Podded::crd(), "spec.template.spec.containers")["description"],
        "List of containers belonging to the pod."
    );
}

#[test]
fn the_whole_is_described_by_its_author() {
    assert_eq!(schema(Everything::crd(), "")["description"], "One field of each sort.");
    assert_eq!(schema(Podded::crd(), "")["description"], "Runs a pod.");
}

#[test]
fn the_fields_of_every_object_are_named() {
    let root = schema(Everything::crd(), "");
    assert_eq!(root["title"], Value::Null);
    assert_eq!(root["properties"]["metadata"], json!({ "type": "object" }));
    assert_eq!(root["properties"]["kind"], json!({ "type": "string" }));
    assert_eq!(root["properties"]["apiVersion"], json!({ "type": "string" }));
}

#[test]
fn the_lists_of_a_pod_are_maps_by_the_keys_that_kubernetes_uses() {
    for (list, keys) in [
        ("spec.template.spec.containers", json!(["name"])),
        ("spec.template.spec.containers.[].env", json!(["name"])),
        ("spec.template.spec.containers.[].ports", json!(["containerPort", "protocol"])),
        ("spec.template.spec.imagePullSecrets", json!(["name"])),
        ("spec.template.spec.tolerations", Value::Null),
        ("spec.service.ports", json!(["port", "protocol"])),
    ] {
        assert_eq!(schema(Podded::crd(), list)["x-kubernetes-list-map-keys"], keys, "{list}");
    }
    // The same name in an author's type means nothing.
    assert_eq!(schema(Everything::crd(), "spec.levels")["x-kubernetes-list-type"], Value::Null);
}

#[test]
fn a_definition_with_a_whole_pod_fits_into_the_annotation_of_kubectl_apply() {
    let limit = 256 * 1024;
    assert!(json!(Podded::crd()).to_string().len() > limit);
    let size = json!(tidy(Podded::crd())).to_string().len();
    assert!(size < limit * 3 / 4, "{size}");
}
