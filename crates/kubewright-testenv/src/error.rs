//! What can go wrong with an environment. Every variant says what was attempted and on what; the
//! cause is its source.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::binaries::{BinaryError, SourceError};
use crate::cache::CacheError;
use crate::images::ImageError;
use crate::preflight::Missing;
use crate::progress::elapsed;
use crate::version::UnknownVersion;

/// Why an environment could not be started, used or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine cannot run what was asked for.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Missing(Vec<Missing>),
    /// A version that is not supported.
    #[error(transparent)]
    Version(#[from] UnknownVersion),
    /// A program could not be had.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The files of a module could not be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An image could not be made.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The cache failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The file system said no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// The directory of the environment has a name that programs stumble over.
    #[error("{} cannot hold an environment: use a directory without spaces and special characters (TMPDIR, KUBEWRIGHT_STATE)", .0.display())]
    Path(PathBuf),
    /// A command that sets something up failed.
    #[error("`{command}` failed: {output}")]
    Command {
        /// The command line.
        command: String,
        /// What it said.
        output: String,
    },
    /// A component ended although it should run.
    #[error("{name} ended ({status}); the last it said:\n{log}")]
    Exited {
        /// Which component.
        name: String,
        /// How it ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// Something did not become ready in time.
    #[error("{what} was not ready after {}; {state}", elapsed(*after))]
    NotReady {
        /// What was waited for.
        what: String,
        /// For how long.
        after: Duration,
        /// The last state seen.
        state: String,
    },
    /// A certificate could not be made.
    #[error("cannot make the certificate of {name}")]
    Certificate {
        /// Whose certificate.
        name: String,
        /// Why not.
        #[source]
        source: rcgen::Error,
    },
    /// The API server refused or did not answer.
    #[error("cannot {action}")]
    Api {
        /// What was attempted.
        action: String,
        /// What it answered.
        #[source]
        source: Box<kube::Error>,
    },
    /// A kubeconfig could not be used.
    #[error("cannot use the kubeconfig")]
    Kubeconfig(#[source] Box<kube::config::KubeconfigError>),
    /// The fault proxy could not be started.
    #[error(transparent)]
    Proxy(#[from] crate::proxy::ProxyError),
    /// There is no component or node of that name.
    #[error("this environment has no {0}")]
    NoSuch(String),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn api(action: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let action = action.into();
        move |source| Self::Api { action, source: Box::new(source) }
    }

    /// The error and its causes on one line.
    pub fn chain(&self) -> String {
        crate::chain(self)
    }
}
