//! A local Kubernetes for the test, and a terminal beside it. Owns the cluster, which ends with the test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use memcached_e2e::image::Build;
use memcached_e2e::programs::program;
use tempfile::TempDir;

/// What an installation could leave behind that is in no namespace.
const OF_THE_CLUSTER: &str = "namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,apiservices,\
                              validatingwebhookconfigurations,mutatingwebhookconfigurations";
/// And what in one, but for what every namespace has. Not `all`: kubectl remembers that a kind is in it which is gone.
const OF_A_NAMESPACE: &str = "pods,services,deployments,replicasets,jobs,configmaps,secrets,\
                              serviceaccounts,roles,rolebindings,networkpolicies,\
                              poddisruptionbudgets,leases";
/// What is removed in the background is gone by then.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Place {
    kubewright: PathBuf,
    state: TempDir,
}

impl Place {
    /// Starts it, with both builds of the operator on its node.
    pub(crate) fn up() -> Self {
        let kubewright = program("kubewright-cli").unwrap();
        let place = Self { kubewright, state: tempfile::tempdir().unwrap() };
        place.succeeds("dev up");
        for build in [Build::Shipped, Build::Other] {
            place.load(&build.tar().unwrap());
        }
        place
    }

    /// Gives an image to the node.
    pub(crate) fn load(&self, tar: &Path) {
        self.succeeds(&format!("dev load {}", tar.display()));
    }

    /// A folder for what the test makes.
    pub(crate) fn folder(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.state.path().join("dev/kubeconfig")
    }

    /// `kubewright` in the operator's folder, with this cluster as the current one. Words are separated by
    /// blanks; quotes are not understood.
    pub(crate) fn command(&self, line: &str) -> Command {
        // A shell without job control starts what runs in the background with Ctrl-C ignored, and that is inherited.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(&self.kubewright).args(line.split_whitespace());
        command.current_dir(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
        command.env("KUBEWRIGHT_STATE", self.state.path()).env("KUBECONFIG", self.kubeconfig());
        command
    }

    fn run(&self, line: &str) -> Output {
        let output = self.command(line).output().unwrap();
        eprintln!("$ kubewright {line}\n{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What it prints.
    pub(crate) fn succeeds(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "`kubewright {line}` failed");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it complains, which is one sentence at the end.
    pub(crate) fn fails(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(1), "`kubewright {line}` did not fail");
        let said = String::from_utf8(output.stderr).unwrap();
        let error = said.lines().find(|line| line.starts_with("error: "));
        error.unwrap_or_else(|| panic!("no error: {said}")).to_owned()
    }

    /// What kubectl prints.
    pub(crate) fn kubectl(&self, line: &str) -> String {
        self.succeeds(&format!("dev kubectl {line}"))
    }

    /// What kubectl complains.
    pub(crate) fn refused(&self, line: &str) -> String {
        let output = self.run(&format!("dev kubectl {line}"));
        assert!(!output.status.success(), "`kubectl {line}` was not refused");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The names of everything that is in no namespace and could be left behind, and of what OLM puts into
    /// kube-system for operators with webhooks.
    pub(crate) fn of_the_cluster(&self) -> BTreeSet<String> {
        let mut all = lines(&self.kubectl(&format!("get {OF_THE_CLUSTER} -o name")));
        all.extend(lines(&self.kubectl("get rolebindings --namespace kube-system -o name")));
        all
    }

    /// The names of everything in a namespace.
    pub(crate) fn in_namespace(&self, namespace: &str) -> BTreeSet<String> {
        lines(&self.kubectl(&format!("get {OF_A_NAMESPACE} -o name --namespace {namespace}")))
    }

    /// Waits until the namespace and the cluster hold what they held before.
    pub(crate) fn until_as_before(&self, before: &Before) {
        until("nothing is left behind", || {
            let cluster = self.of_the_cluster();
            let namespace = self.in_namespace("pots");
            let left =
                cluster.difference(&before.cluster).chain(namespace.difference(&before.namespace));
            let left: Vec<_> = left.cloned().collect();
            if left.is_empty() { Ok(()) } else { Err(left.join(" ")) }
        });
    }
}

/// Looks until it is so.
pub(crate) fn until(what: &str, mut look: impl FnMut() -> Result<(), String>) {
    let begun = Instant::now();
    while let Err(state) = look() {
        assert!(begun.elapsed() < PATIENCE, "not so after {PATIENCE:?}: {what}; {state}");
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// What was there.
pub(crate) struct Before {
    cluster: BTreeSet<String>,
    namespace: BTreeSet<String>,
}

impl Before {
    pub(crate) fn of(place: &Place) -> Self {
        Self { cluster: place.of_the_cluster(), namespace: place.in_namespace("pots") }
    }
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.command("dev down").output(); // nothing else can be done about it
    }
}
