//! The bundle of a whole operator passes upstream's own validators.

use std::fs;
use std::path::Path;
use std::process::Command;

use kubewright::generate::bundle::{self, Bundle, Release};
use kubewright::prelude::*;
use kubewright::project::Project;
use kubewright_testenv::KubernetesVersion;
use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;

use crate::everything::{Everything, NAME};
use crate::pots::Pots;

const PROJECT: &str = r#"
name = "all-operator"
image = "example.com/all-operator"

[bundle]
display-name = "Books"
description = """Keeps books.

Each book has **pages**."""
provider = { name = "Example", url = "https://example.com" }
maintainers = [{ name = "A Person", email = "person@example.com" }]
icon = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
keywords = ["book"]
categories = ["Developer Tools"]
links = [{ name = "Documentation", url = "https://example.com/docs" }]
repository = "https://example.com/source"
"#;

const SAMPLE: &str = "apiVersion: test.kubewright.dev/v1
kind: Book
metadata:
  name: sample
spec:
  pages: 1
";

/// Writes the bundle of [`Everything`] below `root`.
fn write(root: &Path, sample: &str) {
    let operator = Operator::new(NAME).controller::<Everything>();
    write_of(operator.environment("BOOK_IMAGE", "example.com/book:1"), root, sample);
}

/// Writes the bundle of `operator` below `root`.
fn write_of(operator: Operator, root: &Path, sample: &str) {
    let operator = operator.project(PROJECT);
    let project = Project::of(NAME, PROJECT).unwrap();
    let mut installation = operator.installation().unwrap();
    installation.image = project.image_of("0.0.1");
    let release = Release {
        version: "0.0.1".to_owned(),
        channels: vec!["stable".to_owned()],
        default_channel: None,
    };
    let bundle = Bundle {
        installation: &installation,
        about: &project.bundle,
        samples: &[sample],
        release,
        folder: "bundle".to_owned(),
    };
    for file in bundle::bundle(&bundle).unwrap() {
        let path = root.join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
}

/// What the validators say of the bundle below `root`; nothing if all is well.
fn validated(root: &Path) -> String {
    let version = KubernetesVersion::from_environment().unwrap();
    let cache = Cache::from_environment().unwrap();
    let binaries = Binaries::new(cache, version, Progress::Silent).unwrap();
    let output = Command::new(binaries.find(Binary::OperatorVerify).unwrap())
        .args(["manifests", "--operatorhub_validate", "--object_validate"])
        .arg(root.join("bundle"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{said}");
    // Said of the validator itself, whatever the bundle: its two successors have no flag.
    let of_itself = r#"The \"operatorhub\" validator is deprecated"#;
    said.lines().filter(|line| !line.contains(of_itself)).collect()
}

#[test]
fn upstreams_validators_have_nothing_to_say() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), SAMPLE);
    assert_eq!(validated(root.path()), "");
}

#[test]
fn upstreams_validators_have_nothing_to_say_of_webhooks_either() {
    let root = tempfile::tempdir().unwrap();
    let sample = "apiVersion: test.kubewright.dev/v1beta1\nkind: Pot\nmetadata: {name: a}\nspec: {litres: 1}\n---\napiVersion: test.kubewright.dev/v1alpha1\nkind: Pot\nmetadata: {name: a}\nspec: {millilitres: 1000}\n";
    write_of(Operator::new(NAME).controller::<Pots>(), root.path(), sample);
    assert_eq!(validated(root.path()), "");
    let manifests = root.path().join("bundle/manifests");
    let version = fs::read_to_string(manifests.join("all-operator.clusterserviceversion.yaml"));
    let version = version.unwrap();
    assert!(version.contains("webhookdefinitions:") && !version.contains("secrets"), "{version}");
    let definition = fs::read_to_string(manifests.join("test.kubewright.dev_pots.yaml")).unwrap();
    assert!(!definition.contains("clientConfig"), "{definition}");
}

#[test]
fn upstreams_validators_do_speak_of_what_is_wrong() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &SAMPLE.replace("Book", "Booklet"));
    let said = validated(root.path());
    assert!(said.contains("Booklet"), "{said}");
}
