//! `kubewright dev` as a user types it, as far as it needs neither root nor a cluster.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

use std::process::{Command, Output};

use tempfile::TempDir;

/// What came of a command: exit code, standard output, standard error.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A place of its own for each test.
fn kubewright(state: &TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .env_remove("KUBEWRIGHT_KUBERNETES_VERSION")
        .env_remove("KUBEWRIGHT_ALL_TIERS")
        .env("KUBEWRIGHT_STATE", state.path())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Outcome {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

fn run(arguments: &[&str]) -> Outcome {
    kubewright(&tempfile::tempdir().unwrap(), arguments, &[])
}

#[test]
fn an_unsupported_version_is_refused_with_the_ones_there_are() {
    let outcome = run(&["dev", "up", "--kubernetes-version", "1.29.0"]);
    assert_eq!(outcome.code, Some(2));
    let expected = "Kubernetes 1.29.0 is not supported: choose one of ";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
}

#[test]
fn an_unsupported_version_in_the_environment_is_refused_too() {
    let state = tempfile::tempdir().unwrap();
    let variable = [("KUBEWRIGHT_KUBERNETES_VERSION", "1.29")];
    let outcome = kubewright(&state, &["dev", "up"], &variable);
    assert_eq!(outcome.code, Some(1));
    let expected = "error: KUBEWRIGHT_KUBERNETES_VERSION cannot be used: Kubernetes 1.29 is not";
    assert!(outcome.stderr.starts_with(expected), "{}", outcome.stderr);
}

#[test]
fn usage_errors_exit_with_two() {
    let wrong: [&[&str]; 5] = [
        &["dev", "up", "--nodes", "10"],
        &["dev", "up", "--nodes", "-1"],
        &["dev", "logs", "--follow"],
        &["dev", "restart"],
        &[],
    ];
    for arguments in wrong {
        assert_eq!(run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn with_nothing_up_each_question_is_answered_with_what_to_do() {
    let questions: [&[&str]; 6] = [
        &["dev", "status"],
        &["dev", "kubectl", "get", "pods", "-A"],
        &["dev", "kubeconfig"],
        &["dev", "kubeconfig", "--content"],
        &["dev", "logs"],
        &["dev", "logs", "etcd", "-n", "5"],
    ];
    for arguments in questions {
        let outcome = run(arguments);
        assert_eq!(outcome.code, Some(1), "{arguments:?}");
        assert_eq!(
            outcome.stderr,
            "error: nothing is up: `kubewright dev up` starts a local Kubernetes\n"
        );
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn down_with_nothing_up_is_fine_and_makes_nothing() {
    let state = tempfile::tempdir().unwrap();
    let outcome = kubewright(&state, &["dev", "down"], &[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "nothing is up\n"));
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn what_a_restart_of_the_machine_left_is_told_and_cleared() {
    let state = tempfile::tempdir().unwrap();
    let directory = state.path().join("dev");
    std::fs::create_dir(&directory).unwrap();
    for (name, content) in [("lock", ""), ("kubeconfig", "{}")] {
        std::fs::write(directory.join(name), content).unwrap();
    }
    let outcome = kubewright(&state, &["dev", "status"], &[]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("only files are left"), "{}", outcome.stderr);
    assert_eq!(kubewright(&state, &["dev", "down"], &[]).code, Some(0));
    assert!(!directory.exists());
}

#[test]
fn a_directory_of_somebody_else_is_left_alone() {
    let state = tempfile::tempdir().unwrap();
    let work = state.path().join("dev/work");
    std::fs::create_dir_all(&work).unwrap();
    for verb in ["up", "down"] {
        let outcome = kubewright(&state, &["dev", verb], &[]);
        assert_eq!(outcome.code, Some(1), "{verb}");
        let sentence = "are not kubewright's";
        assert!(outcome.stderr.contains(sentence), "{}", outcome.stderr);
    }
    assert!(work.exists());
}

#[test]
fn check_tells_each_tier_and_fails_only_where_all_are_demanded() {
    let state = tempfile::tempdir().unwrap();
    // No programs, no Go and no way to a cache: nothing can run.
    let nothing = [
        ("PATH", "/nonexistent"),
        ("KUBEWRIGHT_CACHE", "/nonexistent"),
        ("KUBEBUILDER_ASSETS", "/nonexistent"),
    ];
    let outcome = kubewright(&state, &["dev", "check"], &nothing);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("✗ control plane\n    no `setsid`"), "{}", outcome.stdout);
    let strict = [&nothing[..], &[("KUBEWRIGHT_ALL_TIERS", "1")]].concat();
    let outcome = kubewright(&state, &["dev", "check"], &strict);
    assert_eq!(outcome.code, Some(1));
    let expected = "error: KUBEWRIGHT_ALL_TIERS is set, and this machine CANNOT RUN: control plane";
    assert!(outcome.stderr.starts_with(expected), "{}", outcome.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let state = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(["dev", "down"])
        .env("KUBEWRIGHT_STATE", state.path())
        .stdout(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn each_help_teaches_with_an_example() {
    for verb in ["up", "down", "status", "kubeconfig", "kubectl", "logs", "check"] {
        let outcome = run(&["dev", verb, "--help"]);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("Example:\n"), "{verb}");
        assert!(outcome.stdout.to_lowercase().contains("need"), "{verb}");
    }
    let version = concat!("kubewright ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(run(&["--version"]).stdout, version);
}
