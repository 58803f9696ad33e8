//! The verbs `install` and `uninstall` of an operator: its definitions on and off a cluster, told as
//! `kubectl` tells it. What is done is [`crate::cluster`]'s.

use std::io::Write as _;
use std::path::PathBuf;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use serde_json::Value;

use crate::client::{Purpose, client};
use crate::cluster::{self, ClusterError, Step};
use crate::error::chain;
use crate::manager::{RunError, configuration};
use crate::metrics::Metrics;

/// Which cluster is meant.
#[derive(clap::Args)]
pub(super) struct Cluster {
    /// The kubeconfig file [default: what KUBECONFIG names, else ~/.kube/config, else the service
    /// account of the pod].
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
}

impl Cluster {
    /// Puts the definitions of `operator` on the cluster.
    pub(super) fn install(
        &self,
        operator: &str,
        definitions: &[CustomResourceDefinition],
    ) -> Result<(), String> {
        let documents: Result<Vec<Value>, _> =
            definitions.iter().map(serde_json::to_value).collect();
        let documents = documents.map_err(|error| chain(&error))?;
        let manager = format!("{operator}-install");
        self.connected(operator, async |client| {
            cluster::apply(&client, &manager, &documents, &mut print).await
        })
    }

    /// Takes them off, with all objects of their kinds.
    pub(super) fn uninstall(
        &self,
        operator: &str,
        definitions: &[CustomResourceDefinition],
    ) -> Result<(), String> {
        self.connected(operator, async |client| {
            cluster::remove_definitions(&client, operator, definitions, &mut print).await
        })
    }

    /// Does `work` there.
    pub(super) fn connected(
        &self,
        operator: &str,
        work: impl AsyncFnOnce(Client) -> Result<(), ClusterError>,
    ) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
        runtime.block_on(async {
            let client = self.client(operator).await.map_err(|error| chain(&error))?;
            work(client).await.map_err(|error| chain(&error))
        })
    }

    async fn client(&self, operator: &str) -> Result<Client, RunError> {
        let config = configuration(self.kubeconfig.as_deref()).await?;
        Ok(client(config, Purpose::Requests, operator, Metrics::new().requests())?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what a step is told to")]
pub(super) fn print(step: Step) {
    let _ = writeln!(std::io::stdout(), "{step}"); // who closed the pipe does not want to know
}
