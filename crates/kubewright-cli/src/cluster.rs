//! The cluster that a verb is about, the one of the current kubeconfig. Owns the connection and how
//! what is done there is printed; what is done is the verbs' and the library's.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Client, Error};
use kubewright::cluster::Step;
use kubewright_testenv::progress::Progress;

use crate::output;

/// Which cluster is meant.
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// The kubeconfig file [default: what KUBECONFIG names, else ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

impl Cluster {
    /// The file, if one was named.
    pub(crate) fn kubeconfig(&self) -> Option<&Path> {
        self.kubeconfig.as_deref()
    }

    /// Does `work` with a client of the cluster.
    pub(crate) fn connected<T>(
        &self,
        work: impl AsyncFnOnce(Client) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let runtime = tokio::runtime::Runtime::new();
        let runtime = runtime.context("cannot start the runtime for network requests")?;
        runtime.block_on(async {
            let client = Client::try_from(self.config().await?);
            let client = client.context("cannot make a client of the API server")?;
            let version = client.apiserver_version().await;
            version.map_err(explained)?;
            work(client).await
        })
    }

    async fn config(&self) -> anyhow::Result<Config> {
        let Some(path) = &self.kubeconfig else {
            return Config::infer().await.context(
                "there is no cluster: set KUBECONFIG, or start one with `kubewright dev up`",
            );
        };
        let cannot = || format!("cannot use the kubeconfig {}", path.display());
        let kubeconfig = Kubeconfig::read_from(path).with_context(cannot)?;
        let options = KubeConfigOptions::default();
        Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(cannot)
    }
}

fn explained(error: Error) -> anyhow::Error {
    anyhow::Error::new(error).context(
        "the cluster of the current kubeconfig does not answer: \
         `kubectl config current-context` tells which one that is",
    )
}

/// Prints a step as `kubectl` does.
#[expect(clippy::needless_pass_by_value, reason = "it is what a step is told to")]
pub(crate) fn print(step: Step) {
    let _ = output::write(format!("{step}\n")); // who closed the pipe does not want to know
}

/// Tells a step on standard error, where standard output is for a program to read.
#[expect(clippy::needless_pass_by_value, reason = "it is what a step is told to")]
pub(crate) fn note(step: Step) {
    Progress::Shown.note(&step.to_string());
}
