//! An environment in which the operator is installed as it says itself, but not deployed: it is run as a
//! process, with a token of its own account.

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
use serde_json::Value;

use crate::objects::Objects;

/// The environment.
pub(crate) struct Installed {
    environment: Environment,
    program: PathBuf,
    kubeconfig: PathBuf,
    namespace: String,
    user: String,
    began: Mark,
}

impl Installed {
    /// Starts the environment and installs what `program` prints.
    pub(crate) async fn start(builder: Builder, program: &Path) -> anyhow::Result<Self> {
        let environment = builder.progress(Progress::Silent).start().await?;
        let mut documents = documents(program)?;
        documents.retain(|document| document["kind"] != "Deployment");
        let client = environment.client();
        cluster::apply(&client, "bench", &documents, &mut |_| {}).await?;
        let account = documents.iter().find(|document| document["kind"] == "ServiceAccount");
        let metadata = &account.context("the operator prints no account")?["metadata"];
        let word = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (word("namespace"), word("name"));
        let identity = Identity::ServiceAccount { namespace: &namespace, name: &name };
        Ok(Self {
            program: program.to_owned(),
            kubeconfig: environment.kubeconfig_as(identity).await?,
            user: format!("system:serviceaccount:{namespace}:{name}"),
            namespace,
            began: Mark::now(&environment)?,
            environment,
        })
    }

    /// Starts the operator without leader election.
    pub(crate) fn operator(&self, arguments: &[&str]) -> anyhow::Result<Process> {
        let directory = self.environment.directory();
        Process::start(&self.program, &self.kubeconfig, directory, arguments)
    }

    /// Starts it as the one of several replicas, as it is deployed.
    pub(crate) fn elected(&self, arguments: &[&str]) -> anyhow::Result<Process> {
        let election = ["--leader-elect", "--leader-election-namespace", &self.namespace];
        self.operator(&[&election, arguments].concat())
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

/// What the operator itself says that installing it takes.
fn documents(program: &Path) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(program).args(["generate", "install"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(cluster::documents(&String::from_utf8_lossy(&output.stdout))?)
}
