//! The requests of the election, each with a limit: a server that is paused never answers, and the
//! client itself waits for ever. Decides nothing.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{PostParams, WatchParams};
use kube::core::WatchEvent;
use kube::{Api, Client};
use tokio::time::timeout;

/// Why a request about the lease came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The API server was not heard of.
    #[error("the API server did not answer within {0:?}")]
    Unanswered(Duration),
    /// It was not reached, or said no.
    #[error("the request failed")]
    Failed(#[source] kube::Error),
    /// There is no lease to write to, and no namespace either.
    #[error("the namespace does not exist")]
    NoNamespace(#[source] kube::Error),
}

impl RequestError {
    /// The lease is no longer the one that the write was about.
    pub(super) fn is_outdated(&self) -> bool {
        matches!(self, Self::Failed(kube::Error::Api(status)) if matches!(status.code, 404 | 409))
    }
}

/// One lease, by name.
pub(super) struct Leases {
    api: Api<Lease>,
    namespace: String,
    name: String,
}

impl fmt::Display for Leases {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

impl Leases {
    pub(super) fn new(client: Client, namespace: String, name: String) -> Self {
        Self { api: Api::namespaced(client, &namespace), namespace, name }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn read(&self, limit: Duration) -> Result<Option<Lease>, RequestError> {
        within(limit, self.api.get_opt(&self.name)).await
    }

    /// What happens to the lease after `version`, for some minutes.
    pub(super) async fn watch(
        &self,
        version: &str,
        limit: Duration,
    ) -> Result<BoxStream<'static, kube::Result<WatchEvent<Lease>>>, RequestError> {
        let parameters =
            WatchParams::default().fields(&format!("metadata.name={}", self.name)).timeout(290);
        Ok(within(limit, self.api.watch(&parameters, version)).await?.boxed())
    }

    /// Creates a lease without a resourceVersion; replaces one that has it, if that is still current.
    pub(super) async fn write(
        &self,
        lease: &Lease,
        limit: Duration,
    ) -> Result<Lease, RequestError> {
        let parameters = PostParams::default();
        if lease.metadata.resource_version.is_some() {
            return within(limit, self.api.replace(&self.name, &parameters, lease)).await;
        }
        match within(limit, self.api.create(&parameters, lease)).await {
            Err(RequestError::Failed(kube::Error::Api(status))) if status.is_not_found() => {
                Err(RequestError::NoNamespace(kube::Error::Api(status)))
            }
            answer => answer,
        }
    }
}

async fn within<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, RequestError> {
    let answer = timeout(limit, request).await.map_err(|_| RequestError::Unanswered(limit))?;
    answer.map_err(RequestError::Failed)
}
