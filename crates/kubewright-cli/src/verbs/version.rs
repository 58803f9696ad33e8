//! `kubewright version`: what this program is, what it was built against, and what it supports.

use std::process::{Command, Stdio};

use clap::Args;
use kubewright_testenv::KubernetesVersion;
use serde::Serialize;

use crate::output::Format;
use crate::table;

/// The libraries as `Cargo.lock` has them; a test keeps these in step.
const KUBE: &str = "5.0.0";
const K8S_OPENAPI: &str = "0.29.0";

#[derive(Debug, Args)]
pub(super) struct Version {
    #[command(flatten)]
    format: Format,
}

/// What is told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    kubewright: &'static str,
    /// The default first.
    kubernetes: Vec<&'static str>,
    kube: &'static str,
    k8s_openapi: &'static str,
    rustc: Option<String>,
}

impl Version {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let versions = Versions {
            kubewright: env!("CARGO_PKG_VERSION"),
            kubernetes: KubernetesVersion::all().map(KubernetesVersion::as_str).collect(),
            kube: KUBE,
            k8s_openapi: K8S_OPENAPI,
            rustc: rustc(),
        };
        self.format.answer(&versions, || versions.text())
    }
}

impl Versions {
    fn text(&self) -> String {
        let Self { kubewright, kubernetes, kube, k8s_openapi, rustc } = self;
        let kubernetes = kubernetes.join(", ").replacen(',', " (default),", 1);
        let rustc = rustc.as_deref().unwrap_or("not found: https://rustup.rs installs it");
        let rows = [
            ["kubewright", kubewright],
            ["Kubernetes", &kubernetes],
            ["kube", kube],
            ["k8s-openapi", k8s_openapi],
            ["rustc", rustc],
        ];
        table::columns(&rows.map(|row| row.map(str::to_owned)))
    }
}

/// The version of the compiler in PATH.
fn rustc() -> Option<String> {
    let output = Command::new("rustc").arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_of_the_versions_that_are_told() {
        let lock: toml::Table = toml::from_str(include_str!("../../../../Cargo.lock")).unwrap();
        let packages = lock["package"].as_array().unwrap();
        for (name, told) in [("kube", KUBE), ("k8s-openapi", K8S_OPENAPI)] {
            let locked = packages.iter().find(|one| one["name"].as_str() == Some(name)).unwrap();
            assert_eq!(locked["version"].as_str(), Some(told), "{name}");
        }
    }
}
