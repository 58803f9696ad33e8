//! The Operator Framework's own validator. Its exit code says nothing; what it prints does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use kubewright_testenv::KubernetesVersion;
use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let version = KubernetesVersion::from_environment().unwrap();
    let cache = Cache::from_environment().unwrap();
    let binaries = Binaries::new(cache, version, Progress::Silent).unwrap();
    binaries.find(Binary::OperatorVerify).unwrap()
});

/// The lines that it prints of the bundle.
pub(crate) fn said(folder: &Path) -> Vec<String> {
    let output = Command::new(&*PROGRAM)
        .args(["manifests", "--operatorhub_validate", "--object_validate"])
        .arg(folder)
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    // Said of the validator itself, whatever the bundle: its two successors have no flag.
    let of_itself = r#"The \"operatorhub\" validator is deprecated"#;
    said.lines().filter(|line| !line.contains(of_itself)).map(str::to_owned).collect()
}
