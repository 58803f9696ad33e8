//! `kubewright deploy` and `undeploy` as a person types them, on a real node. The operator is a stand-in
//! that prints an installation and runs memcached, so that no time is spent on building a real one.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

#[path = "stand_in/project.rs"]
mod stand_in;

use std::path::Path;
use std::process::{Command, Output};

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, ResourceExt as _};
use kubewright_testenv::Env;
use serde_json::json;
use tempfile::TempDir;

const IMAGE: &str = "docker.io/library/memcached:1.6.45";
const PROGRAM: &str = r#"
fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    assert_eq!(arguments[1..3], ["generate", "install"]);
    let image = arguments.iter().position(|one| one == "--image").map(|at| &arguments[at + 1]);
    let text = include_str!("install.yaml");
    print!("{}", text.replace("IMAGE", image.map_or("none", String::as_str)));
}
"#;

fn project() -> TempDir {
    stand_in::project(PROGRAM, "install.yaml", include_str!("deploy/install.yaml"))
}

fn kubewright(project: &Path, env: &Env, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env("KUBECONFIG", env.environment().kubeconfig())
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{error}")
}

fn memos(env: &Env) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.com", "v1", "Memo");
    let kind = ApiResource::from_gvk_with_plural(&kind, "memos");
    Api::namespaced_with(env.client(), env.namespace(), &kind)
}

/// An object that waits for the operator when it is deleted.
async fn create_memo(env: &Env) {
    let memo = json!({
        "apiVersion": "example.com/v1", "kind": "Memo",
        "metadata": { "name": "a", "finalizers": ["example.com/memo-operator"] },
    });
    let memo = serde_json::from_value(memo).unwrap();
    memos(env).create(&PostParams::default(), &memo).await.unwrap();
}

#[kubewright_testenv::test(nodes = 1)]
async fn an_operator_is_deployed_and_undeployed_and_leaves_nothing(env: Env) {
    let project = project();
    let run = |arguments: &[&str]| kubewright(project.path(), &env, arguments);
    let failed = run(&["deploy", "--image", "nowhere.invalid/memo:1"]);
    assert_eq!(failed.status.code(), Some(1));
    let advice = "the nodes cannot get nowhere.invalid/memo:1: `kubewright image load";
    assert!(told(&failed).contains(advice), "{}", told(&failed));

    let deployed = run(&["deploy", "--image", IMAGE]);
    assert!(deployed.status.success(), "{}", told(&deployed));
    assert!(
        told(&deployed).contains("deployment.apps/memo-operator-controller-manager configured\n")
    );

    create_memo(&env).await;
    let kept = run(&["undeploy", "--keep-crd"]);
    assert!(kept.status.success(), "{}", told(&kept));
    assert!(memos(&env).get("a").await.unwrap().finalizers().is_empty());
    assert!(run(&["deploy", "--image", IMAGE]).status.success());

    let removed = run(&["undeploy"]);
    assert!(removed.status.success(), "{}", told(&removed));
    let counted = "1 object of memos.example.com will be deleted, with what runs for them\n";
    assert!(told(&removed).starts_with(counted), "{}", told(&removed));
    let namespaces: Api<Namespace> = Api::all(env.client());
    assert!(namespaces.get_opt("memo-operator-system").await.unwrap().is_none());
    let again = run(&["undeploy"]);
    assert!(again.status.success(), "{}", told(&again));
    assert!(
        String::from_utf8_lossy(&again.stdout).lines().all(|line| line.ends_with(" not found"))
    );
}
