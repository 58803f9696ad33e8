//! Builds the operators as they would ship: static, stripped, with the profile `dist`; and asks them what
//! installing them takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

/// Something that cargo builds.
#[derive(Clone, Copy)]
pub struct Program {
    /// The crate.
    pub package: &'static str,
    /// `--bin` or `--example`.
    pub flag: &'static str,
    /// The program.
    pub name: &'static str,
}

impl Program {
    /// Builds it, which takes minutes the first time, and says where it is.
    pub fn build(self) -> anyhow::Result<PathBuf> {
        let Self { package, flag, name } = self;
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut command = Command::new(cargo);
        command.args(["build", "--profile", "dist", "--message-format", "json-render-diagnostics"]);
        command.args(["--package", package, flag, name]);
        static_target(&mut command)?;
        let built = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        ensure!(built.status.success(), "{name} does not build");
        let lines = String::from_utf8_lossy(&built.stdout).into_owned();
        let mut messages = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
        let made = messages.find_map(|message: Value| {
            let path = message["executable"].as_str()?;
            (message["target"]["name"] == name).then(|| PathBuf::from(path))
        });
        made.with_context(|| format!("cargo did not say where it put {name}"))
    }
}

/// What an operator itself says that has to be installed.
pub fn definition(program: &Path) -> anyhow::Result<CustomResourceDefinition> {
    let output = Command::new(program).args(["generate", "crd"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    serde_saphyr::from_slice(&output.stdout).context("the operator prints no definition")
}

/// Where musl is not installed, glibc can be linked statically as well; the binary is larger.
fn static_target(command: &mut Command) -> anyhow::Result<()> {
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    if Path::new(&rustc(&["--print", "sysroot"])?).join("lib/rustlib").join(&musl).is_dir() {
        let compiler = format!("CC_{}", musl.replace('-', "_"));
        if std::env::var_os(&compiler).is_none() {
            // What little C there is needs no libc, so any compiler will do.
            command.env(compiler, if is_installed("musl-gcc") { "musl-gcc" } else { "cc" });
        }
        command.args(["--target", &musl]);
        return Ok(());
    }
    let version = rustc(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    command.args(["--target", host.context("rustc does not say what it runs on")?]);
    command.env("RUSTFLAGS", "-C target-feature=+crt-static");
    Ok(())
}

fn rustc(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("rustc").args(arguments).output().context("cannot start rustc")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
