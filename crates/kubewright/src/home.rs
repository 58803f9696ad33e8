//! Where the operator itself lives: its Deployment and its namespace, and whether they are being deleted.
//!
//! Owns only the question. What follows from the answer, that the finalizers come off, is done by
//! [`crate::worker`] and [`crate::manager`]. Both objects are looked at with permissions in their own
//! namespace alone.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::core::WatchEvent;
use kube::{Api, Client};
use tokio::time::timeout;
use tracing::{debug, info, warn};

use crate::error::chain;
use crate::raw::Raw;
use crate::watch::delay::Delay;

/// One request in ten minutes is all that it costs at rest.
const WATCH_SECONDS: u32 = 600;
/// The server sends a bookmark about every minute. Silence for longer is a connection that is dead.
const SILENCE: Duration = Duration::from_secs(150);
/// A role that lacks the permission is not given it within seconds.
const REFUSED: Duration = Duration::from_mins(10);
/// An operator that is told to stop has half a minute for everything.
const ANSWER: Duration = Duration::from_secs(3);

/// Whether the operator is being removed for good, so that nothing may wait for it any more. Shared.
#[derive(Clone, Default)]
pub(crate) struct Leaving(Arc<AtomicBool>);

impl Leaving {
    /// It is; there is no way back.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The operator's own Deployment and namespace.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) deployment: String,
}

/// What one watch of the namespace ended with.
enum End {
    Going,
    Closed,
    Refused(String),
    Failed(String),
}

impl Home {
    /// Resolves when the namespace is being deleted. Never gives up.
    pub(crate) async fn until_going(&self, watches: &Client) {
        let mut delay = Delay::default();
        loop {
            match self.follow(watches).await {
                End::Going => {
                    info!(
                        namespace = self.namespace,
                        "the operator's own namespace is being deleted"
                    );
                    return;
                }
                End::Closed => delay.reset(),
                End::Refused(error) => {
                    let namespace = &self.namespace;
                    warn!(namespace, error, "may not watch the operator's own namespace");
                    tokio::time::sleep(REFUSED).await;
                }
                End::Failed(error) => {
                    debug!(error, "the watch of the operator's own namespace was interrupted");
                    delay.wait().await;
                }
            }
        }
    }

    /// One watch of one object by its own path: only so a role in the namespace itself permits it.
    /// Without a version it begins with the object as it is.
    async fn follow(&self, watches: &Client) -> End {
        let path = format!(
            "/api/v1/watch/namespaces/{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}",
            self.namespace, WATCH_SECONDS,
        );
        let request = match http::Request::get(path).body(Vec::new()) {
            Ok(request) => request,
            Err(error) => return End::Refused(error.to_string()),
        };
        let events = match watches.request_events::<Raw>(request).await {
            Ok(events) => events,
            Err(kube::Error::Api(status)) if status.code == 403 => {
                return End::Refused(status.message);
            }
            Err(error) => return End::Failed(chain(&error)),
        };
        let mut events = pin!(events);
        loop {
            match timeout(SILENCE, events.next()).await {
                Ok(Some(Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)))) => {
                    if raw.deleting() {
                        return End::Going;
                    }
                }
                Ok(Some(Ok(WatchEvent::Deleted(_)))) => return End::Going,
                Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
                Ok(Some(Ok(WatchEvent::Error(status)))) => return End::Failed(status.message),
                Ok(Some(Err(error))) => return End::Failed(chain(&error)),
                Ok(None) => return End::Closed,
                Err(_) => return End::Failed(format!("nothing was heard for {SILENCE:?}")),
            }
        }
    }

    /// Whether the Deployment is gone or going, as far as the API server says it in time.
    pub(crate) async fn is_deployment_going(&self) -> bool {
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), &self.namespace);
        let answer = match timeout(ANSWER, api.get_metadata_opt(&self.deployment)).await {
            Ok(Ok(found)) => {
                return found.is_none_or(|found| found.metadata.deletion_timestamp.is_some());
            }
            Ok(Err(error)) => chain(&error),
            Err(_) => format!("no answer within {ANSWER:?}"),
        };
        let (namespace, name) = (&self.namespace, &self.deployment);
        warn!(
            namespace,
            name,
            error = answer,
            "cannot tell whether the operator's Deployment stays"
        );
        false
    }
}
