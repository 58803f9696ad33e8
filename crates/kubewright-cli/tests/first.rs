//! What somebody types first, in any folder: `kubewright`, `version`, `completion`; and how it looks.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

use std::process::{Command, Output};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubewright");

fn kubewright(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn without_arguments_and_with_help_the_verbs_are_told_in_groups() {
    let nothing = kubewright(&[], &[]);
    assert_eq!(nothing.status.code(), Some(2));
    let help = kubewright(&["--help"], &[]);
    assert_eq!(help.status.code(), Some(0));
    assert_eq!(text(&nothing.stderr), text(&help.stdout));
    let told = text(&help.stdout);
    for heading in ["\nEvery day:\n", "\nImages and clusters:\n", "\nThe rest:\n", "\nOptions:\n"] {
        assert!(told.contains(heading), "{told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn the_version_is_told_to_people_and_to_programs() {
    let told = text(&kubewright(&["version"], &[]).stdout);
    assert!(told.starts_with(concat!("kubewright   ", env!("CARGO_PKG_VERSION"), "\n")), "{told}");
    assert!(told.contains(" (default), "), "{told}");

    let json = kubewright(&["version", "-o", "json"], &[]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["kubewright"], env!("CARGO_PKG_VERSION"));
    let newest = kubewright_testenv::KubernetesVersion::newest();
    assert_eq!(json["kubernetes"][0], newest.as_str());
    for key in ["kube", "k8sOpenapi", "rustc"] {
        assert!(json[key].is_string(), "{key}: {json}");
    }

    let without_rust = [("PATH", "/nonexistent")];
    let json = kubewright(&["version", "--output=json"], &without_rust);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json["rustc"].is_null(), "{json}");
}

#[test]
fn bash_completes_verbs_and_flags() {
    let completed = |words: &str, word: &str, index: usize| {
        let script = format!(
            "source <({PROGRAM} completion bash) && complete -p kubewright >&2 && \
             COMP_WORDS=(kubewright {words}) COMP_CWORD={index} && \
             _kubewright kubewright '{word}' '' && echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(completed("comp", "comp", 1), "completion\n");
    assert_eq!(completed("dev st", "st", 2), "status\n");
    assert_eq!(completed("image build --lo", "--lo", 3), "--load\n");
}

#[test]
fn there_is_a_script_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = kubewright(&["completion", shell], &[]);
        assert!(text(&script.stdout).contains("undeploy"), "{shell}");
    }
    assert_eq!(kubewright(&["completion", "csh"], &[]).status.code(), Some(2));
}

#[test]
fn colours_are_for_terminals_and_for_who_asks_for_them() {
    let red = "\u{1b}[31merror:";
    let wrong = ["dev", "logs"]; // nothing is up
    let state = tempfile::tempdir().unwrap();
    let state = ("KUBEWRIGHT_STATE", state.path().to_str().unwrap());
    assert!(text(&kubewright(&wrong, &[state]).stderr).starts_with("error: "));
    let forced = kubewright(&wrong, &[state, ("CLICOLOR_FORCE", "1")]);
    assert!(text(&forced.stderr).contains(red), "{}", text(&forced.stderr));
    let check = kubewright(&["dev", "check"], &[("CLICOLOR_FORCE", "1")]);
    assert!(text(&check.stdout).contains("\u{1b}[3"), "{}", text(&check.stdout));

    let on_a_terminal = |variables: &[(&str, &str)]| {
        let mut command = Command::new("script"); // of util-linux: a terminal without a person
        command.args(["--quiet", "--command", &format!("{PROGRAM} dev logs"), "/dev/null"]);
        // Each of these asks for colours or forbids them, `CI` too: logs of a CI show them.
        for decides in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(decides);
        }
        command.env("TERM", "xterm");
        text(&command.envs([state]).envs(variables.iter().copied()).output().unwrap().stdout)
    };
    assert!(on_a_terminal(&[]).contains(red), "{}", on_a_terminal(&[]));
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert!(on_a_terminal(&[plain]).starts_with("error: "), "{plain:?}");
    }
}
