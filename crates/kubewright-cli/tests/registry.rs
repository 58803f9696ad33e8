//! `kubewright image build --bundle` and `image push` as a person types them, against the reference
//! implementation of a registry.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

use std::path::Path;
use std::process::{Command, Output};

use kubewright_testenv::Registry;
use kubewright_testenv::cache::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// A project with a bundle: enough to build an image of, and no time is spent on compiling.
fn project() -> TempDir {
    let project = tempfile::tempdir().unwrap();
    let files = [
        ("kubewright.toml", "name = \"sample-operator\"\nimage = \"example.com/sample\"\n"),
        ("Cargo.toml", "[package]\nname = \"sample-operator\"\nedition = \"2024\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("bundle/metadata/annotations.yaml", "annotations: {org.example.package: sample}\n"),
        ("bundle/manifests/sample.yaml", "kind: Sample\n"),
    ];
    for (path, content) in files {
        let path = project.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    project
}

fn kubewright(project: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env("DOCKER_CONFIG", project.join("docker"))
        .output()
        .unwrap()
}

/// Builds `image` and tries to push it.
fn push(project: &Path, image: &str) -> Output {
    let built = kubewright(project, &["image", "build", "--bundle", "bundle", "--image", image]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    kubewright(project, &["image", "push", image])
}

/// What is there, as a stranger gets it.
fn get(registry: &Registry, path: &str) -> Vec<u8> {
    let request = ureq::get(format!("http://{}/v2/{path}", registry.address()))
        .header("Accept", "application/vnd.oci.image.manifest.v1+json");
    request.call().unwrap().body_mut().read_to_vec().unwrap()
}

fn login(project: &Path, registry: &str, user_and_password: &str) {
    use base64::Engine as _;
    let auth = base64::engine::general_purpose::STANDARD.encode(user_and_password);
    let content = json!({ "auths": { registry: { "auth": auth } } });
    std::fs::create_dir_all(project.join("docker")).unwrap();
    std::fs::write(project.join("docker/config.json"), content.to_string()).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn digest(content: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

#[test]
fn what_is_pulled_is_what_was_pushed() {
    let (project, registry) = (project(), Registry::open().unwrap());
    let image = format!("{}/team/sample-bundle:v0.0.1", registry.address());
    let pushed = push(project.path(), &image);
    assert!(pushed.status.success(), "{}", text(&pushed.stderr));
    let said = text(&pushed.stdout);

    let manifest = get(&registry, "team/sample-bundle/manifests/v0.0.1");
    assert!(said.contains(&format!("team/sample-bundle@{}", digest(&manifest))), "{said}");
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    for blob in [&manifest["config"], &manifest["layers"][0]] {
        let expected = blob["digest"].as_str().unwrap();
        let content = get(&registry, &format!("team/sample-bundle/blobs/{expected}"));
        assert_eq!(digest(&content), expected);
        assert_eq!(blob["size"], content.len());
    }
    let configuration = manifest["config"]["digest"].as_str().unwrap();
    let configuration = get(&registry, &format!("team/sample-bundle/blobs/{configuration}"));
    let configuration: Value = serde_json::from_slice(&configuration).unwrap();
    assert_eq!(configuration["config"]["Labels"]["org.example.package"], "sample");

    let again = kubewright(project.path(), &["image", "push", &image]);
    assert_eq!(text(&again.stdout), said);
}

#[test]
fn a_bundle_in_a_registry_says_what_it_is_by_its_labels() {
    let (project, registry) = (project(), Registry::open().unwrap());
    let image = format!("{}/team/memcached-bundle:v0.0.1", registry.address());
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bundle");
    for arguments in [&["bundle", "build", own, "--image", &image][..], &["bundle", "push", &image]]
    {
        let output = kubewright(project.path(), arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let manifest = get(&registry, "team/memcached-bundle/manifests/v0.0.1");
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let configuration = manifest["config"]["digest"].as_str().unwrap();
    let configuration = get(&registry, &format!("team/memcached-bundle/blobs/{configuration}"));
    let configuration: Value = serde_json::from_slice(&configuration).unwrap();
    let labels = &configuration["config"]["Labels"];
    assert_eq!(labels["operators.operatorframework.io.bundle.mediatype.v1"], "registry+v1");
    assert_eq!(labels["operators.operatorframework.io.bundle.package.v1"], "memcached-operator");
}

#[test]
fn an_image_that_is_no_bundle_is_told_before_a_cluster_is_asked() {
    let (project, registry) = (project(), Registry::open().unwrap());
    let image = format!("{}/team/sample:v0.0.1", registry.address());
    assert!(push(project.path(), &image).status.success());
    let run = kubewright(project.path(), &["run", "bundle", &image]);
    assert_eq!(run.status.code(), Some(1));
    let told = text(&run.stderr);
    assert!(told.contains(&format!("cannot use {image}: it is no bundle")), "{told}");
}

#[test]
fn a_registry_with_users_takes_an_image_from_who_has_signed_in() {
    let (project, registry) = (project(), Registry::with_user("jane").unwrap());
    let image = format!("{}/sample:1", registry.address());
    let stranger = push(project.path(), &image);
    assert_eq!(stranger.status.code(), Some(1));
    let expected = format!("sign in with `docker login {}`", registry.address());
    assert!(text(&stranger.stderr).contains(&expected), "{}", text(&stranger.stderr));

    login(project.path(), registry.address(), "jane:wrong");
    assert_eq!(push(project.path(), &image).status.code(), Some(1));
    login(project.path(), registry.address(), "jane:secret");
    let pushed = push(project.path(), &image);
    assert!(pushed.status.success(), "{}", text(&pushed.stderr));
}

#[test]
fn a_registry_that_is_not_there_is_an_error_that_names_it() {
    let project = project();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let pushed = push(project.path(), &format!("{closed}/sample:1"));
    assert_eq!(pushed.status.code(), Some(1));
    let told = text(&pushed.stderr);
    let expected = format!("error: cannot reach the registry {closed}: check its name, ");
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn an_image_that_was_not_built_is_not_pushed() {
    let project = project();
    let pushed = kubewright(project.path(), &["image", "push", "example.com/sample:1"]);
    assert_eq!(pushed.status.code(), Some(1));
    assert_eq!(
        text(&pushed.stderr),
        "error: no image example.com/sample:1 was built: \
         run `kubewright image build --image example.com/sample:1` first\n"
    );
}
