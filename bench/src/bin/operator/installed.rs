//! An environment in which the operator is installed as it says itself, but for its pod: it is run as a
//! process on this machine, with a token of its own account.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use kubewright::cluster;
use kubewright_bench::bars::Bars;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_bench::requests::{Mark, Requests};
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{Builder, Environment, Identity};
use serde_json::{Value, json};

use crate::objects::Objects;

/// The environment.
pub(crate) struct Installed {
    environment: Environment,
    program: PathBuf,
    kubeconfig: PathBuf,
    deployment: String,
    user: String,
    began: Mark,
}

impl Installed {
    /// Starts the environment and installs what `program` prints.
    pub(crate) async fn start(builder: Builder, program: &Path) -> anyhow::Result<Self> {
        let environment = builder.progress(Progress::Silent).start().await?;
        let mut documents = documents(program)?;
        let of = |documents: &[Value], kind: &str| {
            let found = documents.iter().find(|document| document["kind"] == kind);
            let metadata =
                &found.with_context(|| format!("the operator prints no {kind}"))?["metadata"];
            let word = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
            anyhow::Ok((word("namespace"), word("name")))
        };
        let (_, deployment) = of(&documents, "Deployment")?;
        let (namespace, name) = of(&documents, "ServiceAccount")?;
        for document in documents.iter_mut().filter(|document| document["kind"] == "Deployment") {
            document["spec"]["replicas"] = json!(0);
        }
        cluster::apply(&environment.client(), "bench", &documents, &mut |_| {}).await?;
        let identity = Identity::ServiceAccount { namespace: &namespace, name: &name };
        let kubeconfig = environment.kubeconfig_as(identity).await?;
        at_home(&kubeconfig, &namespace)?;
        Ok(Self {
            program: program.to_owned(),
            kubeconfig,
            deployment,
            user: format!("system:serviceaccount:{namespace}:{name}"),
            began: Mark::now(&environment)?,
            environment,
        })
    }

    /// Starts the operator without leader election.
    pub(crate) fn operator(&self, arguments: &[&str]) -> anyhow::Result<Process> {
        let directory = self.environment.directory();
        Process::start(&self.program, &self.kubeconfig, directory, arguments)
    }

    /// Starts it with the flags that its Deployment gives it.
    pub(crate) fn elected(&self, arguments: &[&str]) -> anyhow::Result<Process> {
        let deployed = ["--leader-elect", "--own-deployment", &self.deployment];
        self.operator(&[&deployed, arguments].concat())
    }

    /// What the operator looks after.
    pub(crate) fn objects(&self) -> Objects {
        Objects::new(self.environment.client())
    }

    /// Where the audit log ends.
    pub(crate) fn mark(&self) -> anyhow::Result<Mark> {
        Mark::now(&self.environment)
    }

    /// What the operator has asked since.
    pub(crate) fn since(&self, mark: Mark) -> anyhow::Result<Requests> {
        Requests::since(&self.environment, mark, &self.user)
    }

    /// Ends the environment. What was refused in it is a figure of its own.
    pub(crate) async fn stop(self, phase: &str, bars: &mut Bars) -> anyhow::Result<()> {
        let requests = self.since(self.began)?;
        for refused in requests.forbidden() {
            progress(&format!("refused: {} {}", refused.verb, refused.uri));
        }
        bars.exactly(format!("{phase}: requests refused"), requests.forbidden().len(), 0);
        self.environment.stop().await?;
        Ok(())
    }
}

/// Makes `namespace` the one of the kubeconfig's context, as it is that of a pod's account.
fn at_home(kubeconfig: &Path, namespace: &str) -> anyhow::Result<()> {
    let mut config: Value = serde_json::from_slice(&fs::read(kubeconfig)?)?;
    config["contexts"][0]["context"]["namespace"] = json!(namespace);
    Ok(fs::write(kubeconfig, config.to_string())?)
}

/// What the operator itself says that installing it takes.
fn documents(program: &Path) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(program).args(["generate", "install"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(cluster::documents(&String::from_utf8_lossy(&output.stdout))?)
}
