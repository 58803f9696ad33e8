//! Follows one watch until it ends, and says why it did.

use std::pin::pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use kube::ResourceExt as _;
use kube::api::WatchParams;
use kube::core::WatchEvent;
use tokio::time::timeout;
use tracing::warn;

use super::{End, LIST_DEADLINE, Watch};
use crate::error::chain;
use crate::raw::Raw;
use crate::store::Arrival;

/// The server ends a watch after this many seconds, and we begin another where it ended.
const WATCH_SECONDS: u32 = 290;
/// The server sends a bookmark about every minute. Silence for longer is a connection that is dead.
const SILENCE: Duration = Duration::from_secs(150);

impl Watch {
    /// Follows the watch from `version`. Answers with the version that it reached.
    pub(super) async fn follow(&mut self, version: String) -> (String, End) {
        // Spread, so that the watches of many operators do not all begin anew at the same moment.
        let seconds = WATCH_SECONDS - u32::try_from(self.store.len() % 20).unwrap_or(0);
        let parameters = WatchParams {
            label_selector: self.store.selector.clone(),
            timeout: Some(seconds),
            bookmarks: true,
            ..WatchParams::default()
        };
        match timeout(LIST_DEADLINE, self.api.watch(&parameters, &version)).await {
            Ok(Ok(events)) => {
                if self.doubtful {
                    self.answering.notify_waiters();
                }
                let mut events = pin!(events.peekable());
                match self.rewound(&version, events.as_mut()).await {
                    Ok(None) => {
                        self.store.is_broken(self.scope(), None);
                        self.take_in_while_served(version, events).await
                    }
                    Ok(Some(newest)) => (newest, End::Expired),
                    Err(error) => (version, End::Failed(chain(&error))),
                }
            }
            Ok(Err(kube::Error::Api(status))) if status.code == 410 => (version, End::Expired),
            // A kind that was removed: only a list tells whether it is back.
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => (version, End::Expired),
            Ok(Err(error)) => (version, End::Failed(chain(&error))),
            Err(_) => (version, End::Failed("the server did not answer".to_owned())),
        }
    }

    async fn take_in_while_served(
        &mut self,
        mut version: String,
        events: impl Stream<Item = kube::Result<WatchEvent<Raw>>> + Unpin,
    ) -> (String, End) {
        let mut served = self.served.take();
        let gone = async {
            match &mut served {
                Some(served) => served.deleted().await,
                None => std::future::pending().await,
            }
        };
        let end = tokio::select! {
            end = self.take_in(&mut version, events) => end,
            () = gone => End::Gone,
        };
        self.served = served;
        (version, end)
    }

    async fn take_in(
        &self,
        version: &mut String,
        mut events: impl Stream<Item = kube::Result<WatchEvent<Raw>>> + Unpin,
    ) -> End {
        loop {
            let event = match timeout(SILENCE, events.next()).await {
                Ok(Some(event)) => event,
                Ok(None) => return End::Closed,
                Err(_) => {
                    return End::Failed(format!("nothing was heard for {SILENCE:?}"));
                }
            };
            match event {
                Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)) => {
                    note(version, raw.resource_version());
                    if self.store.admits(&raw) {
                        self.store.put(raw, Arrival::Live);
                    }
                }
                Ok(WatchEvent::Deleted(raw)) => {
                    note(version, raw.resource_version());
                    self.store.remove(&raw);
                }
                Ok(WatchEvent::Bookmark(bookmark)) => *version = bookmark.metadata.resource_version,
                Ok(WatchEvent::Error(status)) if status.code == 410 => {
                    return End::Expired;
                }
                Ok(WatchEvent::Error(status)) => return End::Failed(status.message),
                Err(kube::Error::SerdeError(error)) => {
                    warn!(kind = self.kind(), %error, "an event was not understood and is left out");
                }
                Err(error) => return End::Failed(chain(&error)),
            }
        }
    }
}

fn note(version: &mut String, newer: Option<String>) {
    if let Some(newer) = newer {
        *version = newer;
    }
}
