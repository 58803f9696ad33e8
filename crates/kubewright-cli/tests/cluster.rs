//! `kubewright dev` as a person uses it, with a real node; and an operator in it, with no image named
//! anywhere.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "stand_in/project.rs"]
mod stand_in;

use std::path::Path;
use std::process::{Command, Output};

use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Prints its installation when it is asked, else runs for ever and does nothing.
const OPERATOR: &str = r#"
fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--image");
    match arguments.nth(1) {
        Some(image) => print!("{}", include_str!("install.yaml").replace("IMAGE", &image)),
        None => loop {
            std::thread::park();
        },
    }
}
"#;

fn dev(state: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.arg("dev").args(arguments).env("KUBEWRIGHT_STATE", state);
    command.output().unwrap()
}

fn project() -> TempDir {
    stand_in::project(OPERATOR, "install.yaml", include_str!("deploy/install.yaml"))
}

/// What a verb answers in `project` to a program that reads it.
fn answer(project: &Path, state: &Path, verb: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.args(verb).args(["-o", "json"]).current_dir(project);
    command.env("KUBEWRIGHT_STATE", state).env("KUBECONFIG", state.join("dev/kubeconfig"));
    let output = command.env("CARGO_TARGET_DIR", project.join("target")).output().unwrap();
    assert!(output.status.success(), "{verb:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Ends the cluster also when an assertion fails.
struct Down<'a>(&'a Path);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        dev(self.0, &["down"]);
    }
}

#[test]
fn a_cluster_comes_up_and_goes_without_a_trace() {
    if !can_run("a_cluster_comes_up", Tier::Node) {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let down = Down(state.path());
    let up = dev(state.path(), &["up"]);
    let (summary, told) = (text(&up.stdout), text(&up.stderr));
    assert!(up.status.success(), "{told}");
    let export = format!("export KUBECONFIG={}/dev/kubeconfig", state.path().display());
    assert!(summary.contains(&export), "{summary}");

    let again = dev(state.path(), &["up"]);
    assert!(text(&again.stdout).contains("is already up: 1 node"), "{}", text(&again.stderr));
    let status = dev(state.path(), &["status"]);
    assert!(status.status.success(), "{}", text(&status.stdout));
    let logs = dev(state.path(), &["logs", "node-1/kubelet", "-n", "3"]);
    assert_eq!(text(&logs.stdout).lines().count(), 3);
    let nodes = dev(state.path(), &["kubectl", "get", "nodes", "-o", "name"]);
    assert_eq!(text(&nodes.stdout), "node/node-1\n", "{}", text(&nodes.stderr));
    check_json(&answer(state.path(), state.path(), &["dev", "status"]));

    let project = project();
    let image = "docker.io/library/memo-operator:v0.3.0";
    let built = answer(project.path(), state.path(), &["image", "build", "--load"]);
    assert_eq!(built["name"], image);
    let deployed = answer(project.path(), state.path(), &["deploy"]);
    let deployment = "memo-operator-controller-manager";
    let namespace = "memo-operator-system";
    assert_eq!(
        deployed,
        json!({ "namespace": namespace, "deployment": deployment, "image": image, "ready": 1 })
    );

    let loaded = dev(state.path(), &["load", "none.tar"]);
    assert!(text(&loaded.stderr).contains("there is no file none.tar"));

    drop(down);
    assert!(!state.path().join("dev").exists());
    assert_eq!(dev(state.path(), &["status"]).status.code(), Some(1));
}

fn check_json(status: &Value) {
    assert_eq!(status["nodes"], json!([{ "name": "node-1", "state": "Ready" }]), "{status}");
    assert_eq!((&status["ready"], &status["trouble"]), (&json!(true), &Value::Null));
    let components = status["components"].as_array().unwrap();
    let etcd = components.iter().find(|component| component["name"] == "etcd").unwrap();
    assert_eq!(etcd["state"], "running");
    assert!(etcd["pid"].is_u64() && etcd["memoryKilobytes"].is_u64(), "{etcd}");
    for key in ["kubernetes", "server", "kubeconfig"] {
        assert!(status[key].is_string(), "{key}");
    }
    assert!(status["upSeconds"].is_u64());
}
