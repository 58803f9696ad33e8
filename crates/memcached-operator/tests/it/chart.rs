//! The chart that is in the repository, tried with Helm.

use std::fs;

use kubewright::cluster::documents;
use kubewright_testenv::Helm;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Everything but labels and annotations, which Helm adds to, in a stable order.
fn essence(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| object["kind"] != "Namespace"); // Helm's to make
    for object in &mut objects {
        object["metadata"]["labels"].take();
        object["metadata"]["annotations"].take();
    }
    objects.sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
    objects
}

#[test]
fn the_chart_installs_what_install_yaml_does() {
    let file = fs::read_to_string(format!("{ROOT}/deploy/install.yaml")).unwrap();
    // A chart is of one version, and so is the image that it installs; the file has the latest.
    let version = env!("CARGO_PKG_VERSION");
    let file = file.replace(":latest", &format!(":v{version}"));
    let chart = format!("template caches {ROOT}/charts/memcached-operator --no-hooks");
    let helm = Helm::find().unwrap();
    let rendered = helm.run(&format!("{chart} --namespace memcached-operator-system")).unwrap();
    let (expected, found) =
        (essence(documents(&file).unwrap()), essence(documents(&rendered).unwrap()));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn helm_has_nothing_to_complain_of_and_the_image_of_caches_can_be_set() {
    let helm = Helm::find().unwrap();
    let chart = format!("{ROOT}/charts/memcached-operator");
    helm.run(&format!("lint --strict {chart}")).unwrap();
    let set = "--set environment.MEMCACHED_IMAGE=registry.example.com/memcached:1";
    let rendered = helm.run(&format!("template caches {chart} --no-hooks {set}")).unwrap();
    assert!(rendered.contains("value: \"registry.example.com/memcached:1\""), "{rendered}");
    let said = helm.run(&format!("template caches {chart} --set environment.MEMCACHED=a"));
    assert!(said.unwrap_err().contains("'MEMCACHED' not allowed"));
}
