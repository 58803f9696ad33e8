//! The programs of this project on the machine of the test: as people type them, and the operator as a
//! process that can be killed.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use kube::Client;
use kubewright::cluster;
use kubewright::generate::{Installation, install, manager_name};
use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{Env, Identity, KubernetesVersion};
use serde_json::Value;
use tokio::process::Child;

/// Runs `kubewright` in the project's folder, on the cluster of the test, and gives what it prints.
///
/// # Panics
/// If it fails; that is how a test fails.
pub fn kubewright(env: &Env, arguments: &str) -> String {
    typed(env, program("kubewright-cli"), arguments)
}

/// Runs `memcached-operator` like that.
///
/// # Panics
/// If it fails.
pub fn operator(env: &Env, arguments: &str) -> String {
    typed(env, program("memcached-operator"), arguments)
}

/// Runs `make` like that.
///
/// # Panics
/// If it fails.
pub fn make(env: &Env, arguments: &str) -> String {
    typed(env, Ok("make".into()), arguments)
}

/// Words are separated by blanks; quotes are not understood.
fn typed(env: &Env, program: anyhow::Result<PathBuf>, arguments: &str) -> String {
    let program = program.unwrap_or_else(|error| panic!("no program: {error:#}"));
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .current_dir(workspace())
        .env("KUBECONFIG", env.environment().kubeconfig())
        .output()
        .unwrap_or_else(|error| panic!("cannot run `{arguments}`: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{arguments}` failed: {complaint}{said}");
    said
}

/// The operator as a process of the test, with the rights of its own account.
#[derive(Debug)]
pub struct Outside {
    program: PathBuf,
    kubeconfig: PathBuf,
    log: PathBuf,
}

impl Outside {
    /// Permits what the operator needs, and gets everything ready to start it.
    pub async fn prepare(env: &Env, installation: &Installation) -> anyhow::Result<Self> {
        permit(&env.client(), installation).await?;
        let Installation { operator, namespace, .. } = installation;
        let account = manager_name(operator);
        let identity = Identity::ServiceAccount { namespace, name: &account };
        let kubeconfig = env.environment().kubeconfig_as(identity).await?;
        let log = env.environment().directory().join("operator.log");
        let program = tokio::task::spawn_blocking(|| program("memcached-operator")).await??;
        Ok(Self { program, kubeconfig, log })
    }

    /// Starts it; it ends when it is killed or dropped. Without a Lease, or each would wait until that of
    /// the killed one before is over.
    pub fn start(&self) -> anyhow::Result<Child> {
        let log = OpenOptions::new().append(true).create(true).open(&self.log)?;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(["run", "--leader-elect=false", "--health-probe-bind-address=0"]);
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.kill_on_drop(true).spawn().context("the operator does not start")
    }
}

/// Applies everything that the operator needs in a cluster but its own Deployment.
///
/// # Errors
/// If the API server refuses it.
pub async fn permit(client: &Client, installation: &Installation) -> anyhow::Result<()> {
    let mut objects = install::install(installation);
    objects.retain(|object| object["kind"] != "Deployment");
    cluster::apply(client, "e2e", &objects, &mut |_| {}).await?;
    Ok(())
}

/// Takes away what cargo tells the programs that it runs, tests among them: with that, a cargo that they run
/// takes crates for changed whose build asks for it, and compiles half of everything again.
pub fn without_cargos_own(command: &mut Command) {
    let of_package =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(of_package) {
            command.env_remove(name);
        }
    }
}

/// Builds the program of a package, unless it is built, and says where it is.
///
/// # Errors
/// If it cannot be built.
pub fn program(package: &str) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    without_cargos_own(&mut cargo);
    let output = cargo
        .args(["build", "--quiet", "--message-format", "json", "--package", package])
        .current_dir(workspace())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "{package} cannot be built");
    let text = String::from_utf8(output.stdout)?;
    let mut executables = text.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().with_context(|| format!("{package} has no program"))
}

/// Where projects that tests scaffold are built: one folder for all, so that what they depend on is compiled once.
pub fn scaffolded() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    workspace().join(target).join("scaffold")
}

/// The Operator Framework's own validator: what it prints of the bundle in `folder`. Its exit code says nothing.
///
/// # Errors
/// If the program cannot be built or run.
pub fn said_by_upstream(folder: &Path) -> anyhow::Result<Vec<String>> {
    let version = KubernetesVersion::from_environment()?;
    let binaries = Binaries::new(Cache::from_environment()?, version, Progress::Shown)?;
    let output = Command::new(binaries.find(Binary::OperatorVerify)?)
        .args(["manifests", "--operatorhub_validate", "--object_validate"])
        .arg(folder)
        .output()?;
    let said = String::from_utf8([output.stdout, output.stderr].concat())?;
    // Said of the validator itself, whatever the bundle: its two successors have no flag.
    let of_itself = r#"The \"operatorhub\" validator is deprecated"#;
    Ok(said.lines().filter(|line| !line.contains(of_itself)).map(str::to_owned).collect())
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
