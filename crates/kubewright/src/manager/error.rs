//! Why an operator did not start, or ended.

use std::error::Error as StdError;
use std::path::PathBuf;

use crate::client::ClientError;

/// Why an operator did not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operator's name is used where only DNS labels are legal.
    #[error(
        "`{0}` cannot be the name of an operator: use at most 63 of a-z, 0-9 and -, with a letter first"
    )]
    Name(String),
    /// There is nothing to run.
    #[error("the operator has no controller: add one with `.controller::<C>()`")]
    NoController,
    /// Two controllers for one kind would undo each other's work.
    #[error("two controllers reconcile `{0}`: register one")]
    TwoControllers(String),
    /// The kubeconfig file cannot be used.
    #[error("cannot use the kubeconfig {}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    /// No cluster is configured.
    #[error("no cluster to work with: set KUBECONFIG or --kubeconfig, or run in a pod")]
    NoCluster(#[source] Box<kube::config::InferConfigError>),
    /// A server for probes or metrics cannot be started.
    #[error("cannot serve probes or metrics")]
    Server(#[source] Box<dyn StdError + Send + Sync>),
    /// The client cannot be made.
    #[error("cannot make a client for the cluster")]
    Client(#[source] Box<dyn StdError + Send + Sync>),
    /// Another instance leads now; this one must not go on.
    #[error("this instance does not lead any more")]
    Election(#[source] Box<dyn StdError + Send + Sync>),
    /// The election ended although nobody asked for it.
    #[error("the election ended by itself")]
    ElectionEnded,
    /// A task of the author's own failed.
    #[error("`{name}` failed")]
    Runnable {
        /// Its name.
        name: &'static str,
        /// What it said.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl From<ClientError> for RunError {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}
