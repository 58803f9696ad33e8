//! `kubewright dev` as a person uses it, with a real node.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::Path;
use std::process::{Command, Output};

use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;

fn dev(state: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.arg("dev").args(arguments).env("KUBEWRIGHT_STATE", state);
    command.output().unwrap()
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
    let loaded = dev(state.path(), &["load", "none.tar"]);
    assert!(text(&loaded.stderr).contains("there is no file none.tar"));

    drop(down);
    assert!(!state.path().join("dev").exists());
    assert_eq!(dev(state.path(), &["status"]).status.code(), Some(1));
}
