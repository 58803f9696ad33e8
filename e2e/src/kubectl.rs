//! What a person types, and what they see.

use std::io::Write as _;
use std::process::{Output, Stdio};

use kubewright_testenv::Env;

/// Runs kubectl in the test's namespace, and gives what it prints.
///
/// # Panics
/// If kubectl fails; that is how a test fails.
pub fn kubectl(env: &Env, arguments: &str) -> String {
    let output = run(env, arguments, "");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl {arguments}: {complaint}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Applies a manifest, and gives what kubectl prints.
///
/// # Panics
/// If kubectl fails.
pub fn apply(env: &Env, manifest: &str) -> String {
    let output = run(env, "apply -f -", manifest);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl apply: {complaint}\n{manifest}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Applies a manifest that is to be refused, and gives what kubectl complains.
///
/// # Panics
/// If it is accepted.
pub fn refused(env: &Env, manifest: &str) -> String {
    let output = run(env, "apply -f -", manifest);
    assert!(!output.status.success(), "accepted:\n{manifest}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Words are separated by blanks; quotes are not understood.
fn run(env: &Env, arguments: &str, input: &str) -> Output {
    let mut child = env
        .kubectl()
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot run kubectl: {error}"));
    if let Some(mut stdin) = child.stdin.take() {
        let written = stdin.write_all(input.as_bytes());
        written.unwrap_or_else(|error| panic!("kubectl takes no input: {error}"));
    }
    child.wait_with_output().unwrap_or_else(|error| panic!("kubectl did not end: {error}"))
}
