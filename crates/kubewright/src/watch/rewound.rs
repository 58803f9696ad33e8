//! Notices that the cluster was restored from a backup. The API server takes a watch from a version that
//! does not exist yet without complaint, and says nothing until the count has caught up: what happens
//! until then would be missed.
//!
//! Caveat: once the count has passed what all our watches had seen, a watch that is taken up again cannot
//! tell a restored cluster from another. A list can: see [`crate::store::Round`].

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::Peekable;
use kube::api::{ListParams, VersionMatch};
use kube::core::WatchEvent;
use tokio::time::timeout;

use super::{LIST_DEADLINE, Watch};
use crate::error::Error;
use crate::raw::Raw;

/// A server that has forgotten our place, or ends the watch, does so at once; then there is nothing to ask.
const FIRST_WORD: Duration = Duration::from_secs(1);

impl Watch {
    /// The newest version that was ever seen, if the server's data is older than that. Asked only after
    /// a failure, because nobody restores a cluster while it is in use; costs one list of at most one
    /// object.
    pub(super) async fn rewound(
        &mut self,
        version: &str,
        events: Pin<&mut Peekable<impl Stream<Item = kube::Result<WatchEvent<Raw>>>>>,
    ) -> Result<Option<String>, Error> {
        if !self.doubtful || timeout(FIRST_WORD, events.peek()).await.is_ok_and(is_end) {
            return Ok(None);
        }
        let newest = self.newest.load(Ordering::Acquire).max(version.parse().unwrap_or(0));
        if self.has_not_reached(newest).await? {
            return Ok(Some(newest.to_string()));
        }
        self.doubtful = false;
        Ok(None)
    }

    /// Fails unless the server's data really ends before `newest`: what has answered with an older list may
    /// be a server that lags behind the others, whose word would undo what has happened since.
    pub(super) async fn check_restored(&self, newest: u64) -> Result<(), Error> {
        if self.has_not_reached(newest).await? {
            return Ok(());
        }
        Err(Error::Outdated { action: format!("list {}", self.resource()) })
    }

    /// True if the server says that this version does not exist yet.
    async fn has_not_reached(&self, version: u64) -> Result<bool, Error> {
        let parameters = ListParams {
            limit: Some(1),
            label_selector: self.store.selector.clone(),
            resource_version: Some(version.to_string()),
            version_match: Some(VersionMatch::NotOlderThan),
            ..ListParams::default()
        };
        let resource = self.resource();
        let action = || format!("list {resource}");
        match timeout(LIST_DEADLINE, self.api.list(&parameters)).await {
            Ok(Ok(_)) => Ok(false),
            Ok(Err(kube::Error::Api(status))) if is_too_large(&status) => Ok(true),
            Ok(Err(error)) => {
                Err(Error::api(&self.store.manager, "list", &resource, action(), error))
            }
            Err(_) => Err(Error::Deadline { action: action(), after: LIST_DEADLINE }),
        }
    }
}

/// What a watch says first, if it says anything: true if it is its end. What happened to an object may have
/// happened in a restored cluster too.
fn is_end(first: Option<&kube::Result<WatchEvent<Raw>>>) -> bool {
    matches!(first, None | Some(Err(_) | Ok(WatchEvent::Error(_))))
}

fn is_too_large(status: &kube::core::Status) -> bool {
    let causes = status.details.as_ref().map(|details| details.causes.as_slice());
    causes.unwrap_or_default().iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
}
