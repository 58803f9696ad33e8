//! What the types say about themselves.

use kube::CustomResourceExt as _;
use serde_json::json;

use super::*;

#[test]
fn a_spec_without_fields_has_the_defaults() {
    let spec: MemcachedSpec = serde_json::from_value(json!({})).unwrap();
    assert_eq!((spec.size, spec.container_port), (DEFAULT_SIZE, DEFAULT_PORT));
    assert_eq!((spec.image, spec.resources), (None, None));
}

#[test]
fn every_field_is_described() {
    let definition = serde_json::to_value(Memcached::crd()).unwrap();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for part in ["spec", "status"] {
        for (name, field) in schema["properties"][part]["properties"].as_object().unwrap() {
            assert!(field["description"].is_string(), "{part}.{name} has no description");
        }
    }
}

#[test]
fn the_bounds_of_the_schema_are_those_of_the_constants() {
    let definition = serde_json::to_value(Memcached::crd()).unwrap();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let size = &schema["properties"]["spec"]["properties"]["size"];
    assert_eq!(size["maximum"], json!(f64::from(MAX_SIZE)));
    assert_eq!(size["default"], json!(DEFAULT_SIZE));
    let image = &schema["properties"]["spec"]["properties"]["image"];
    assert_eq!(image["maxLength"], json!(MAX_IMAGE));
}
