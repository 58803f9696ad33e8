//! The verbs of every day, as a person types them in a project. The operator is a stand-in that tells
//! what it was given, so that no time is spent on building a real one; the API server is real.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

#[path = "stand_in/project.rs"]
mod stand_in;

use std::path::Path;
use std::process::{Command, Output};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kubewright_testenv::Env;
use tempfile::TempDir;

const OPERATOR: &str = r#"
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["generate", "crd"] {
        return print!("{}", include_str!("crd.yaml"));
    }
    println!("memo-operator {}", arguments.join(" "));
    if arguments.iter().any(|argument| argument == "--fail") {
        std::process::exit(7);
    }
}

#[test]
fn this_passes() {}

#[test]
fn this_fails_if_told_to() {
    assert!(std::env::var_os("FAIL").is_none());
}
"#;

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: notes.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Note, plural: notes, singular: note }
  versions:
  - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
";

fn project() -> TempDir {
    stand_in::project(OPERATOR, "crd.yaml", DEFINITION)
}

fn kubewright(project: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(project.join("src"))
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env_remove("KUBEWRIGHT_ALL_TIERS")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_operator_answers_its_own_verbs_and_its_exit_code_is_passed_on() {
    let project = project();
    let said = |arguments: &[&str]| text(&kubewright(project.path(), arguments, &[]).stdout);
    assert_eq!(said(&["generate"]), "memo-operator generate all\n");
    assert_eq!(said(&["generate", "k8s"]), "memo-operator generate k8s\n");
    assert_eq!(said(&["install", "--bounds", "a=1..2"]), "memo-operator install --bounds a=1..2\n");
    assert_eq!(said(&["run", "--namespace=a"]), "memo-operator run --namespace=a\n");
    let failed = kubewright(project.path(), &["run", "--fail"], &[]);
    assert_eq!((failed.status.code(), text(&failed.stderr).as_str()), (Some(7), ""));
}

#[test]
fn the_program_is_built() {
    let project = project();
    let built = kubewright(project.path(), &["build"], &[]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert!(project.path().join("target/release/memo-operator").is_file());
}

#[test]
fn tests_run_after_it_is_said_what_they_can_run_on() {
    let project = project();
    let passed = kubewright(project.path(), &["test", "--", "this_passes"], &[]);
    assert!(passed.status.success(), "{}", text(&passed.stderr));
    assert!(text(&passed.stdout).contains("1 passed"), "{}", text(&passed.stdout));
    assert!(text(&passed.stderr).contains(" control plane\n"), "{}", text(&passed.stderr));

    let failed = kubewright(project.path(), &["test"], &[("FAIL", "1")]);
    assert_eq!(failed.status.code(), Some(101));
    assert!(text(&failed.stdout).contains("1 failed"), "{}", text(&failed.stdout));

    let nowhere = [("KUBEWRIGHT_KUBERNETES_VERSION", "1.29")];
    let partly = kubewright(project.path(), &["test"], &nowhere);
    assert!(partly.status.success(), "{}", text(&partly.stderr));
    let sentence =
        "✗ control plane\n    KUBEWRIGHT_KUBERNETES_VERSION cannot be used: Kubernetes 1.29";
    assert!(text(&partly.stderr).starts_with(sentence), "{}", text(&partly.stderr));
    let all = [nowhere[0], ("KUBEWRIGHT_ALL_TIERS", "1")];
    let refused = kubewright(project.path(), &["test"], &all);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(text(&refused.stdout), "");
}

#[kubewright_testenv::test(own)]
async fn up_local_installs_what_is_missing_and_runs_the_operator(env: Env) {
    let project = project();
    let kubeconfig = format!("--kubeconfig={}", env.environment().kubeconfig().display());
    let installed = "customresourcedefinition.apiextensions.k8s.io/notes.example.com created\n";
    let started = format!("memo-operator run --namespace=default {kubeconfig} --resync=1h\n");
    let flags = ["--namespace=default", &kubeconfig, "--operator-flags=--resync=1h"];

    let first = kubewright(project.path(), &[&["up", "local"], &flags[..]].concat(), &[]);
    assert_eq!(text(&first.stdout), format!("{installed}{started}"), "{}", text(&first.stderr));
    let definitions: Api<CustomResourceDefinition> = Api::all(env.client());
    let before = definitions.get("notes.example.com").await.unwrap();

    let again = kubewright(project.path(), &[&["run", "--local"], &flags[..]].concat(), &[]);
    assert_eq!(text(&again.stdout), started, "{}", text(&again.stderr));
    let after = definitions.get("notes.example.com").await.unwrap();
    assert_eq!(before.metadata.resource_version, after.metadata.resource_version);

    let wrong = kubewright(project.path(), &["run", "--local", "--nonsense"], &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("'--nonsense'"), "{}", text(&wrong.stderr));
}
