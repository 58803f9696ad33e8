//! Catalogues of a small bundle.

use std::collections::BTreeMap;

use super::*;

const ANNOTATIONS: &str = "annotations:
  operators.operatorframework.io.bundle.package.v1: pots
  operators.operatorframework.io.bundle.channels.v1: stable
  operators.operatorframework.io.bundle.channel.default.v1: stable
";

fn bundle(version: &str) -> Bundle {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": { "name": format!("pots.v{version}") },
        "spec": { "version": version, "displayName": "Pots" },
    });
    Bundle::of(BTreeMap::from([
        ("manifests/csv.yaml".to_owned(), csv.to_string().into_bytes()),
        ("metadata/annotations.yaml".to_owned(), ANNOTATIONS.as_bytes().to_vec()),
    ]))
}

fn catalogue(image: Option<&str>) -> Catalogue {
    Catalogue::with(&bundle("0.1.0"), image, &[], "place").unwrap()
}

fn release(documents: &[Value], name: &str) -> Value {
    documents.iter().find(|one| one["name"] == name).unwrap().clone()
}

#[test]
fn a_bundle_with_an_image_is_named_by_it() {
    let documents = Catalogue::documents(&catalogue(Some("example.com/a:1")).held()).unwrap();
    assert_eq!(release(&documents, "pots.v0.1.0")["image"], "example.com/a:1");
}

#[test]
fn a_bundle_without_an_image_is_in_the_catalogue_itself() {
    let documents = Catalogue::documents(&catalogue(None).held()).unwrap();
    let release = release(&documents, "pots.v0.1.0");
    assert_eq!(release.get("image"), None);
    let properties = release["properties"].as_array().unwrap();
    let objects: Vec<_> =
        properties.iter().filter(|one| one["type"] == "olm.bundle.object").collect();
    let data = STANDARD.decode(objects[0]["value"]["data"].as_str().unwrap()).unwrap();
    let object: Value = serde_json::from_slice(&data).unwrap();
    assert_eq!((objects.len(), &object["kind"]), (1, &json!("ClusterServiceVersion")));
    assert!(!properties.iter().any(|one| one["type"] == "olm.csv.metadata"));
}

#[test]
fn another_release_is_served_at_another_address_and_replaces_the_one_before() {
    let first = catalogue(None);
    let before = Catalogue::documents(&first.held()).unwrap();
    let second = Catalogue::with(&bundle("0.2.0"), None, &before, "place").unwrap();
    assert_ne!(first.address(), second.address());
    assert_eq!(first.source()["metadata"], second.source()["metadata"]);
    let documents = Catalogue::documents(&second.held()).unwrap();
    let channel = release(&documents, "stable");
    assert_eq!(channel["entries"][1], json!({ "name": "pots.v0.2.0", "replaces": "pots.v0.1.0" }));
    assert_eq!(first.address(), catalogue(None).address(), "the same content, the same address");
}

#[test]
fn the_default_channel_is_one_that_there_is() {
    let default = |said: &str, before: &[Value]| {
        let annotations = ANNOTATIONS.replace("default.v1: stable", &format!("default.v1: {said}"));
        let mut files = bundle("0.1.0").files;
        files.insert("metadata/annotations.yaml".to_owned(), annotations.into_bytes());
        let documents = catalog::with(&Bundle::of(files), "a:1", before).unwrap();
        documents[0]["defaultChannel"].clone()
    };
    let entries = json!([{ "name": "pots.v0.0.9" }]);
    let fast =
        json!({ "schema": "olm.channel", "package": "pots", "name": "fast", "entries": entries });
    let before =
        [json!({ "schema": "olm.package", "name": "pots", "defaultChannel": "fast" }), fast];
    assert_eq!(default("fast", &[]), "stable");
    assert_eq!(default("fast", &before), "fast");
    assert_eq!(default("none", &before), "fast");
    assert_eq!(default("stable", &before), "stable");
}

#[test]
fn a_channel_with_two_newest_releases_is_refused() {
    let mut files = bundle("0.3.0").files;
    let csv = String::from_utf8(files["manifests/csv.yaml"].clone()).unwrap();
    let csv = csv.replace("\"displayName\"", "\"replaces\":\"pots.v0.2.0\",\"displayName\"");
    files.insert("manifests/csv.yaml".to_owned(), csv.into_bytes());
    let before = Catalogue::documents(&catalogue(None).held()).unwrap();
    let error = catalog::with(&Bundle::of(files), "a:1", &before).unwrap_err();
    assert!(error.to_string().contains("pots.v0.1.0 and pots.v0.3.0 would all be"), "{error}");
}

#[test]
fn everything_has_the_label_that_cleanup_looks_for() {
    let catalogue = catalogue(None);
    for object in catalogue.server("opm:1").iter().chain([&catalogue.source()]) {
        assert_eq!(object["metadata"]["labels"][BUNDLE], "pots", "{object}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_way_out() {
    let mut large = bundle("0.1.0");
    let object = json!({ "kind": "ConfigMap", "data": { "a": "b".repeat(LARGEST) } });
    large.manifests.push(bundle::Manifest { file: "manifests/large.yaml".to_owned(), object });
    let error = Catalogue::with(&large, None, &[], "place").unwrap_err();
    assert!(error.to_string().contains("kubewright run bundle IMAGE"), "{error}");
}
