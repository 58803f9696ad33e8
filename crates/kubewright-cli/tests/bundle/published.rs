//! What follows a bundle that is in order: its image, the scorecard, a catalogue.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::folder::{CRD, CSV, Folder};

fn kubewright(folder: &Folder, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(folder.path().parent().unwrap())
        .env("CARGO_TARGET_DIR", folder.path().parent().unwrap().join("target"))
        .output()
        .unwrap()
}

fn well(folder: &Folder, arguments: &[&str]) -> String {
    let output = kubewright(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// With a project around the bundle.
fn project() -> Folder {
    let folder = Folder::good();
    let root = folder.path().parent().unwrap().to_owned();
    let manifest =
        "[package]\nname = \"sample-operator\"\nversion = \"0.3.0\"\nedition = \"2024\"\n";
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    let file = "name = \"sample-operator\"\nimage = \"localhost:1/team/sample\"\n";
    fs::write(root.join("kubewright.toml"), file).unwrap();
    folder
}

fn scorecard(folder: &Folder) -> Vec<(String, String, usize)> {
    let output = kubewright(folder, &["scorecard", "-o", "json"]);
    let tests: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let has_failed = tests.iter().any(|test| test["state"] == "fail");
    assert_eq!(output.status.success(), !has_failed);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let count = |value: &Value| value.as_array().unwrap().len();
    let one = |test: &Value| {
        (
            text(&test["name"]),
            text(&test["state"]),
            count(&test["errors"]) + count(&test["suggestions"]),
        )
    };
    tests.iter().map(one).collect()
}

#[test]
fn the_operators_own_bundle_passes_the_scorecard_that_it_has_a_configuration_for() {
    let folder = Folder::good();
    let tests = scorecard(&folder);
    assert!(tests.iter().all(|(_, state, said)| state == "pass" && *said == 0), "{tests:?}");
    let names: Vec<_> = tests.into_iter().map(|(name, ..)| name).collect();
    let configuration = folder.read("tests/scorecard/config.yaml");
    let configuration: Value = serde_saphyr::from_str(&configuration).unwrap();
    let configured = configuration["stages"][0]["tests"].as_array().unwrap().iter();
    let configured: Vec<_> =
        configured.map(|test| test["entrypoint"][1].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, configured);
}

#[test]
fn each_test_of_the_scorecard_can_fail() {
    type Case = (&'static str, &'static str, fn(&Folder));
    let cases: [Case; 6] = [
        ("basic-check-spec", "pass", |folder| {
            let text = folder.read(CSV).replace("\"spec\": {", "\"other\": {");
            folder.write(CSV, &text);
        }),
        ("olm-bundle-validation", "fail", |folder| folder.remove(CRD)),
        ("olm-crds-have-validation", "pass", |folder| {
            let text = folder.read(CSV).replace("\"size\": 3", "\"length\": 3");
            folder.write(CSV, &text);
        }),
        ("olm-crds-have-resources", "fail", |folder| {
            folder.edit(CSV, |csv| {
                csv["spec"]["customresourcedefinitions"]["owned"][0]["resources"] = json!([]);
            });
        }),
        ("olm-spec-descriptors", "fail", |folder| {
            folder.edit(CSV, |csv| {
                csv["spec"]["customresourcedefinitions"]["owned"][0]["specDescriptors"] = json!([]);
            });
        }),
        ("olm-status-descriptors", "fail", |folder| {
            let text =
                folder.read(CSV).replace("\"spec\": {", "\"status\": {\"a\": 1}, \"spec\": {");
            folder.write(CSV, &text);
        }),
    ];
    for (name, state, break_it) in cases {
        let folder = Folder::good();
        break_it(&folder);
        let tests = scorecard(&folder);
        let test = tests.iter().find(|test| test.0 == name).unwrap();
        assert!(test.1 == state && test.2 > 0, "{test:?}");
    }
}

#[test]
fn a_bundle_is_built_if_it_is_in_order_and_has_a_name_of_its_own() {
    let folder = project();
    let built: Value =
        serde_json::from_str(&well(&folder, &["bundle", "build", "-o", "json"])).unwrap();
    assert_eq!(built["name"], "localhost:1/team/sample-bundle:v0.3.0");

    folder.remove(CRD);
    let refused = kubewright(&folder, &["bundle", "build"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("error bundle/crd-missing: "), "{said}");
    // Nobody listens there: it found what was built, and that is all that can be seen of it here.
    let said = String::from_utf8(kubewright(&folder, &["bundle", "push"]).stderr).unwrap();
    assert!(said.contains("localhost:1"), "{said}");
}

/// The documents of the catalogue.
fn catalog(folder: &Folder) -> Vec<Value> {
    well(folder, &["catalog", "--bundle-image", "example.com/memcached-bundle:v1"]);
    let path = folder.path().parent().unwrap().join("catalog/memcached-operator/catalog.yaml");
    serde_saphyr::from_multiple(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_catalogue_has_the_package_its_channel_and_the_release() {
    let folder = Folder::good();
    let documents = catalog(&folder);
    let schemas: Vec<_> = documents.iter().map(|it| it["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas, ["olm.package", "olm.channel", "olm.bundle"]);
    assert_eq!(documents[0]["defaultChannel"], "stable");
    assert_eq!(documents[1]["entries"], json!([{"name": "memcached-operator.v0.0.1"}]));
    let bundle = &documents[2];
    assert_eq!(bundle["image"], "example.com/memcached-bundle:v1");
    let gvk = json!({"group": "cache.example.com", "kind": "Memcached", "version": "v1alpha1"});
    assert_eq!(bundle["properties"][0], json!({"type": "olm.gvk", "value": gvk}));
    let package = json!({"packageName": "memcached-operator", "version": "0.0.1"});
    assert_eq!(bundle["properties"][1], json!({"type": "olm.package", "value": package}));
    assert_eq!(bundle["properties"][2]["value"]["displayName"], "Memcached Operator");
    assert!(bundle["relatedImages"].as_array().unwrap().len() > 1);
    assert_eq!(documents, catalog(&folder), "the same again changes nothing");
}

#[test]
fn a_later_release_replaces_the_one_before_it() {
    let folder = Folder::good();
    catalog(&folder);
    folder.edit(CSV, |csv| {
        csv["metadata"]["name"] = json!("memcached-operator.v0.10.0");
        csv["spec"]["version"] = json!("0.10.0");
    });
    catalog(&folder);
    folder.edit(CSV, |csv| {
        csv["metadata"]["name"] = json!("memcached-operator.v0.11.0");
        csv["spec"]["version"] = json!("0.11.0");
    });
    let documents = catalog(&folder);
    let entries = json!([
        {"name": "memcached-operator.v0.0.1"},
        {"name": "memcached-operator.v0.10.0", "replaces": "memcached-operator.v0.0.1"},
        {"name": "memcached-operator.v0.11.0", "replaces": "memcached-operator.v0.10.0"},
    ]);
    assert_eq!(documents[1]["entries"], entries);
    assert_eq!(documents.len(), 5);
}

/// What `bundle push` prints can be used as it is.
#[test]
fn a_bundle_s_image_is_named_by_its_digest_too() {
    let folder = Folder::good();
    let image = format!("example.com/memcached-bundle@sha256:{}", "0a".repeat(32));
    well(&folder, &["catalog", "--bundle-image", &image]);
    let path = folder.path().parent().unwrap().join("catalog/memcached-operator/catalog.yaml");
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(&image), "{text}");
}

#[test]
fn a_bundle_with_errors_is_in_no_catalogue() {
    let folder = Folder::good();
    folder.remove(CRD);
    let refused = kubewright(&folder, &["catalog", "--bundle-image", "example.com/a:v1"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!folder.path().parent().unwrap().join("catalog").exists());
}
