//! The operator as one static program: for musl, and where that cannot be had, for glibc without its
//! shared libraries. Owns the choice and the flags; cargo does the work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use kubewright_testenv::progress::Progress;
use serde::Deserialize;

use crate::project::Project;
use crate::style;

const STATIC: &str = "-C target-feature=+crt-static";

/// What profile `dist` is where neither the project nor a variable such as `CARGO_PROFILE_DIST_LTO` says:
/// small, and fast enough. Unwinding stays, because a panicking pass must cost its object only.
const DIST: [(&str, &str); 5] = [
    ("inherits", "'release'"),
    ("opt-level", "'s'"),
    ("lto", "'fat'"),
    ("codegen-units", "1"),
    ("strip", "true"),
];

/// Builds it and says where it is.
pub(super) fn build(project: &Project) -> anyhow::Result<PathBuf> {
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut command = project.cargo();
    command.args(["build", "--profile", "dist", "--package", &project.name]);
    command.args(["--bin", &project.name, "--message-format", "json-render-diagnostics"]);
    if !project.has_profile("dist")? {
        let is_set = |variable: &str| std::env::var_os(variable).is_some();
        command.args(settings(is_set).flat_map(|setting| ["--config".to_owned(), setting]));
    }
    if let Err(reason) = provide(&musl) {
        let gnu = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        style::warn(&format!("{reason}; linking against a static glibc instead"));
        anyhow::ensure!(
            has(&gnu),
            "a static program cannot be built: {reason}, and there is no target {gnu} either"
        );
        command.args(["--target", &gnu]).env("RUSTFLAGS", STATIC);
    } else {
        command.args(["--target", &musl]);
        with_compiler(&mut command, &musl);
    }
    let step = format!("building {} as it ships", project.name);
    let output = Progress::Shown
        .step(&step, || command.stdin(Stdio::null()).stderr(Stdio::inherit()).output());
    let output = output.context("cannot run `cargo`")?;
    anyhow::ensure!(output.status.success(), "{} cannot be built", project.name);
    executable(&output.stdout, &project.name)
        .with_context(|| format!("cargo built no program called {}", project.name))
}

/// The profile as cargo takes it, which would prefer it to variables.
fn settings(is_set: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let variable = |key: &str| key.to_uppercase().replace('-', "_");
    let is_free = move |key: &str| !is_set(&format!("CARGO_PROFILE_DIST_{}", variable(key)));
    let settings = DIST.into_iter().filter(move |(key, _)| is_free(key));
    settings.map(|(key, value)| format!("profile.dist.{key}={value}"))
}

/// Makes sure that the standard library for `target` is here; says why not.
fn provide(target: &str) -> Result<(), String> {
    if has(target) {
        return Ok(());
    }
    let step = format!("getting the Rust target {target}");
    let added = Progress::Shown.step(&step, || {
        Command::new("rustup").args(["target", "add", target]).stdin(Stdio::null()).output()
    });
    match added {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let last = complaint.lines().last().unwrap_or_default().trim();
            Err(format!("`rustup target add {target}` failed: {last}"))
        }
        Err(_) => Err(format!("the Rust target {target} is missing, and rustup to get it")),
    }
}

/// True if there is a standard library for `target`.
fn has(target: &str) -> bool {
    let arguments = ["--print", "target-libdir", "--target", target];
    let output = Command::new("rustc").args(arguments).stdin(Stdio::null()).output();
    output.is_ok_and(|output| {
        output.status.success()
            && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}

/// What C there is needs no libc, so the usual compiler does where there is none for musl.
fn with_compiler(command: &mut Command, target: &str) {
    let variable = format!("CC_{}", target.replace('-', "_"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_musl = std::env::split_paths(&path).any(|folder| folder.join("musl-gcc").is_file());
    if std::env::var_os(&variable).is_none() && !has_musl {
        command.env(variable, "cc");
    }
}

/// Out of what cargo says about what it built.
fn executable(messages: &[u8], name: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
        target: Option<Target>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let messages = serde_json::Deserializer::from_slice(messages).into_iter::<Message>();
    let named = messages
        .flatten()
        .filter(|message| message.target.as_ref().is_some_and(|target| target.name == name));
    named.filter_map(|message| message.executable).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_cargo_says_how_the_program_is_built() {
        let all: Vec<_> = settings(|_| false).collect();
        assert_eq!(all.len(), DIST.len());
        let rest: Vec<_> = settings(|name| name == "CARGO_PROFILE_DIST_OPT_LEVEL").collect();
        assert!(!rest.contains(&"profile.dist.opt-level='s'".to_owned()), "{rest:?}");
        assert_eq!(rest.len(), DIST.len() - 1);
    }

    #[test]
    fn the_program_is_found_in_what_cargo_says() {
        let messages = br#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"a"},"executable":"/target/a"}
{"reason":"compiler-artifact","target":{"name":"build-script-build"},"executable":"/target/b"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "a").unwrap(), Path::new("/target/a"));
        assert_eq!(executable(messages, "c"), None);
    }
}
