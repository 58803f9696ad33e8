//! Builds a program from source with Go, through the Go module proxy, from the pinned modules under
//! `go/`. Owns the modules and the build flags.

mod source;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::binaries::Binary;
use crate::version::KubernetesVersion;

pub use source::SourceError;
pub(crate) use source::source;

/// The CoreDNS that is built, for every version of Kubernetes.
pub const COREDNS_VERSION: &str = "1.15.0";

/// The registry that is built.
pub const REGISTRY_VERSION: &str = "3.1.2";
/// The `operator-verify` that is built.
pub const OPERATOR_VERIFY_VERSION: &str = "0.37.0";
/// The metrics-server that is built.
pub const METRICS_SERVER_VERSION: &str = "0.9.0";
/// The Helm that is built.
pub const HELM_VERSION: &str = "4.3.1";
/// The Operator Lifecycle Manager that is built: the one that `operator-sdk` installs.
pub const OLM_VERSION: &str = "0.28.0";
/// The `opm` that is built.
pub const OPM_VERSION: &str = "1.55.0";

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum GoError {
    #[error("Go is not installed")]
    NoGo,
    #[error("cannot prepare the build")]
    Prepare(#[source] io::Error),
    #[error("`go build {package}` failed: {output}")]
    Failed { package: &'static str, output: String },
}

struct Module {
    version: &'static str,
    go_mod: &'static str,
    go_sum: &'static str,
}

macro_rules! module {
    ($version:expr, $($folder:literal),+) => {
        Module {
            version: $version,
            go_mod: include_str!(concat!("../../go/", $($folder,)+ "/go.mod")),
            go_sum: include_str!(concat!("../../go/", $($folder,)+ "/go.sum")),
        }
    };
}

macro_rules! kubernetes {
    ($version:literal) => {
        module!($version, "kubernetes-", $version)
    };
}

/// One module per line of `supported-kubernetes.txt`; a test keeps the two in step.
const KUBERNETES: [Module; 4] =
    [kubernetes!("1.36.3"), kubernetes!("1.35.4"), kubernetes!("1.34.4"), kubernetes!("1.33.13")];

const COREDNS: Module = module!(COREDNS_VERSION, "coredns");
const OPERATOR_VERIFY: Module = module!(OPERATOR_VERIFY_VERSION, "operator-verify");
const METRICS_SERVER: Module = module!(METRICS_SERVER_VERSION, "metrics-server");
const HELM: Module = module!(HELM_VERSION, "helm");
const OLM: Module = module!(OLM_VERSION, "olm");
const OPM: Module = module!(OPM_VERSION, "opm");
const COREDNS_MAIN: &str = include_str!("../../go/coredns/main.go");

const REGISTRY: Module = module!(REGISTRY_VERSION, "registry");
const REGISTRY_MAIN: &str = include_str!("../../go/registry/main.go");

/// The etcd that belongs to a version of Kubernetes: the one that its client library has.
pub(super) fn etcd_version(version: KubernetesVersion) -> &'static str {
    const LINE: &str = "go.etcd.io/etcd/server/v3 v";
    let module = module(Binary::Etcd, version);
    let after = module.go_mod.split(LINE).nth(1).unwrap_or_default();
    after.split_whitespace().next().unwrap_or_default()
}

/// Builds `binary` into the file `out`. Works in a directory beside it, so that what a killed build
/// leaves is found and removed by the next one.
pub(super) fn build(binary: Binary, version: KubernetesVersion, out: &Path) -> Result<(), GoError> {
    let directory = out.with_extension("build");
    let built = prepare(binary, version, &directory)
        .map_err(GoError::Prepare)
        .and_then(|()| run(binary, version, &directory, out));
    let removed = remove(&directory).map_err(GoError::Prepare);
    built.and(removed)
}

fn prepare(binary: Binary, version: KubernetesVersion, directory: &Path) -> io::Result<()> {
    remove(directory)?;
    fs::create_dir_all(directory.join("tmp"))?;
    let module = module(binary, version);
    fs::write(directory.join("go.mod"), module.go_mod)?;
    fs::write(directory.join("go.sum"), module.go_sum)?;
    match binary {
        Binary::CoreDns => fs::write(directory.join("main.go"), COREDNS_MAIN),
        Binary::Registry => fs::write(directory.join("main.go"), REGISTRY_MAIN),
        _ => Ok(()),
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn run(
    binary: Binary,
    version: KubernetesVersion,
    directory: &Path,
    out: &Path,
) -> Result<(), GoError> {
    let package = package(binary);
    let output = go()
        .current_dir(directory)
        .env("GOTMPDIR", directory.join("tmp"))
        .args(["build", "-trimpath", "-mod=readonly", "-tags", tags(binary)])
        .args(["-ldflags", &linker_flags(version), "-o"])
        .arg(out)
        .arg(package)
        .output();
    match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(GoError::NoGo),
        Err(error) => Err(GoError::Prepare(error)),
        Ok(output) if output.status.success() => Ok(()),
        // `setpriv` answers 127 when it cannot find the program.
        Ok(output) if output.status.code() == Some(127) => Err(GoError::NoGo),
        Ok(output) => Err(GoError::Failed { package, output: last_lines(&output.stderr) }),
    }
}

/// `go`, ended by the kernel when the thread that waits for it ends: a killed run leaves no build
/// behind.
fn go() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "go"]);
    command.env("CGO_ENABLED", "0").env("GOWORK", "off").env("GOFLAGS", "-buildvcs=false");
    command.stdin(Stdio::null());
    command
}

fn module(binary: Binary, version: KubernetesVersion) -> &'static Module {
    match binary {
        Binary::CoreDns => &COREDNS,
        Binary::Registry => &REGISTRY,
        Binary::OperatorVerify => &OPERATOR_VERIFY,
        Binary::MetricsServer => &METRICS_SERVER,
        Binary::Helm => &HELM,
        Binary::Olm | Binary::OlmCatalog | Binary::PackageServer | Binary::Cpb => &OLM,
        Binary::Opm | Binary::GrpcHealthProbe => &OPM,
        _ => KUBERNETES
            .iter()
            .find(|module| module.version == version.as_str())
            .unwrap_or(&KUBERNETES[0]),
    }
}

fn package(binary: Binary) -> &'static str {
    match binary {
        Binary::Etcd => "go.etcd.io/etcd/server/v3",
        Binary::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
        Binary::KubeControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
        Binary::KubeScheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
        Binary::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
        Binary::Kubelet => "k8s.io/kubernetes/cmd/kubelet",
        Binary::KubeProxy => "k8s.io/kubernetes/cmd/kube-proxy",
        Binary::CoreDns | Binary::Registry => ".",
        Binary::OperatorVerify => "github.com/operator-framework/api/cmd/operator-verify",
        Binary::MetricsServer => "sigs.k8s.io/metrics-server/cmd/metrics-server",
        Binary::Helm => "helm.sh/helm/v4/cmd/helm",
        Binary::Olm => "github.com/operator-framework/operator-lifecycle-manager/cmd/olm",
        Binary::OlmCatalog => {
            "github.com/operator-framework/operator-lifecycle-manager/cmd/catalog"
        }
        Binary::PackageServer => {
            "github.com/operator-framework/operator-lifecycle-manager/cmd/package-server"
        }
        Binary::Cpb => "github.com/operator-framework/operator-lifecycle-manager/util/cpb",
        Binary::Opm => "github.com/operator-framework/operator-registry/cmd/opm",
        Binary::GrpcHealthProbe => "github.com/grpc-ecosystem/grpc-health-probe",
    }
}

/// What a program is to be built without: opm checks signatures of images by C, unless it is told not to.
fn tags(binary: Binary) -> &'static str {
    match binary {
        Binary::Opm => "containers_image_openpgp,exclude_graphdriver_btrfs",
        _ => "",
    }
}

/// Without these the programs say that they are v0.0.0, which clients take for very old.
fn linker_flags(version: KubernetesVersion) -> String {
    let (major, minor) = version.major_minor();
    let set = |name, value: &str| format!(" -X k8s.io/component-base/version.{name}={value}");
    let (git, major, minor) =
        (set("gitVersion", &format!("v{version}")), set("gitMajor", major), set("gitMinor", minor));
    format!("-s -w{git}{major}{minor}")
}

/// The end of what Go said, on one line: what it downloaded before that is of no interest.
pub fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("go: downloading")).collect();
    lines[lines.len().saturating_sub(8)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_version_has_its_module() {
        let supported: Vec<_> = KubernetesVersion::all().map(KubernetesVersion::as_str).collect();
        let modules: Vec<_> = KUBERNETES.iter().map(|module| module.version).collect();
        assert_eq!(supported, modules);
        for module in &KUBERNETES {
            assert!(module.go_mod.contains(&format!("k8s.io/kubernetes v{}", module.version)));
        }
    }

    #[test]
    fn the_versions_that_are_told_are_those_of_the_modules() {
        for (module, name) in [
            (COREDNS, "github.com/coredns/coredns"),
            (REGISTRY, "github.com/distribution/distribution/v3"),
            (OPERATOR_VERIFY, "github.com/operator-framework/api"),
            (METRICS_SERVER, "sigs.k8s.io/metrics-server"),
            (HELM, "helm.sh/helm/v4"),
            (OLM, "github.com/operator-framework/operator-lifecycle-manager"),
            (OPM, "github.com/operator-framework/operator-registry"),
        ] {
            let required = format!("{name} v{}", module.version);
            // A module that is only needed for a tool counts as indirect, and its line says so.
            let mut lines = module.go_mod.lines().map(|line| line.trim_start_matches("require "));
            let found = lines.any(|line| line.trim().trim_end_matches(" // indirect") == required);
            assert!(found, "{required}");
        }
    }

    #[test]
    fn the_etcd_of_a_version_is_read_from_its_module() {
        assert_eq!(etcd_version("1.36".parse().unwrap()), "3.6.8");
    }

    #[test]
    fn downloads_are_left_out_of_what_a_failed_build_said() {
        assert_eq!(
            last_lines(b"go: downloading x v1\nno space left on device\n"),
            "no space left on device"
        );
    }
}
