//! Keeps one cache up to date: lists it, then follows the watch, and lists again only when the server has
//! forgotten where we were. Every request has a deadline, every failure a delay; it never gives up.

pub(crate) mod delay;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use kube::api::{ListParams, WatchParams};
use kube::core::WatchEvent;
use kube::{Api, ResourceExt as _};
use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use crate::error::{Error, chain};
use crate::metrics::WatchMetrics;
use crate::raw::Raw;
use crate::served::Served;
use crate::store::{Arrival, Store};
use delay::Delay;

/// One page of a list: what is in memory twice while it is taken in.
const PAGE: u32 = 200;
/// A page of a list in etcd takes milliseconds; a server under water takes seconds.
const LIST_DEADLINE: Duration = Duration::from_mins(1);
/// The server ends a watch after this many seconds, and we begin another where it ended.
const WATCH_SECONDS: u32 = 290;
/// The server sends a bookmark about every minute. Silence for longer is a connection that is dead.
const SILENCE: Duration = Duration::from_secs(150);

/// One watch of one kind in one scope.
pub(crate) struct Watch {
    pub(crate) api: Api<Raw>,
    pub(crate) store: Arc<Store>,
    /// None for all namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) metrics: WatchMetrics,
    /// For a kind that the cluster need not serve.
    pub(crate) served: Option<Served>,
}

/// Why a watch ended.
enum End {
    /// The server closed it in good order.
    Closed,
    /// The server has forgotten our place: list again.
    Expired,
    Failed(String),
}

impl Watch {
    /// Runs until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut delay = Delay::default();
        let mut place: Option<String> = None;
        let mut listed = false;
        loop {
            let version = match place.take() {
                Some(version) => version,
                None => match self.list().await {
                    Ok(version) => {
                        self.arrived(&mut listed);
                        version
                    }
                    Err(error) => {
                        self.not_listed(&error, &mut listed, &mut delay).await;
                        continue;
                    }
                },
            };
            let started = Instant::now();
            let (reached, end) = self.follow(version).await;
            self.metrics.restarted();
            let lasted = started.elapsed();
            match end {
                End::Closed if lasted > Duration::from_secs(5) => delay.reset(),
                End::Closed => delay.wait().await,
                End::Expired => {
                    debug!(kind = self.kind(), "the server has forgotten our place: listing again");
                    if lasted < Duration::from_secs(5) {
                        delay.wait().await;
                    }
                    continue;
                }
                End::Failed(error) => {
                    warn!(kind = self.kind(), error, "watch interrupted");
                    self.store.is_broken(self.scope(), Some(error));
                    if lasted > Duration::from_mins(2) {
                        delay.reset();
                    }
                    delay.wait().await;
                }
            }
            place = Some(reached);
        }
    }

    /// Lists everything, page by page. Answers with the version to watch from.
    async fn list(&self) -> Result<String, Error> {
        let round = self.store.begin();
        let mut parameters = ListParams { limit: Some(PAGE), ..ListParams::default() };
        parameters.label_selector.clone_from(&self.store.selector);
        let mut version = String::new();
        loop {
            let mut page = match timeout(LIST_DEADLINE, self.api.list(&parameters)).await {
                Ok(Ok(page)) => page,
                Ok(Err(kube::Error::Api(status)))
                    if status.code == 410 && parameters.continue_token.is_some() =>
                {
                    // The snapshot that the pages are of is gone: take everything in one.
                    parameters.continue_token = None;
                    parameters.limit = None;
                    continue;
                }
                Ok(Err(error)) => {
                    let resource = self.resource();
                    return Err(Error::api("list", &resource, format!("list {resource}"), error));
                }
                Err(_) => {
                    let action = format!("list {}", self.resource());
                    return Err(Error::Deadline { action, after: LIST_DEADLINE });
                }
            };
            if version.is_empty() {
                version = page.metadata.resource_version.unwrap_or_default();
            }
            let round = round.of_version(version.parse().unwrap_or(0));
            page.items.iter_mut().for_each(|raw| raw.is_listed_as(&self.store.kind.api_version));
            self.store.learn(&page.items);
            for raw in page.items {
                self.store.put(raw, Arrival::Listed(round));
            }
            parameters.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
            if parameters.continue_token.is_none() {
                self.store.end(round, self.namespace.as_deref());
                self.metrics.relisted();
                return Ok(version);
            }
        }
    }

    /// Follows the watch from `version`. Answers with the version that it reached.
    async fn follow(&self, version: String) -> (String, End) {
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
                self.store.is_broken(self.scope(), None);
                self.take_in(version, pin!(events)).await
            }
            Ok(Err(kube::Error::Api(status))) if status.code == 410 => (version, End::Expired),
            // A kind that was removed: only a list tells whether it is back.
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => (version, End::Expired),
            Ok(Err(error)) => (version, End::Failed(chain(&error))),
            Err(_) => (version, End::Failed("the server did not answer".to_owned())),
        }
    }

    async fn take_in(
        &self,
        mut version: String,
        mut events: impl Stream<Item = kube::Result<WatchEvent<Raw>>> + Unpin,
    ) -> (String, End) {
        loop {
            let event = match timeout(SILENCE, events.next()).await {
                Ok(Some(event)) => event,
                Ok(None) => return (version, End::Closed),
                Err(_) => {
                    return (version, End::Failed(format!("nothing was heard for {SILENCE:?}")));
                }
            };
            match event {
                Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)) => {
                    version = raw.resource_version().unwrap_or(version);
                    self.store.put(raw, Arrival::Live);
                }
                Ok(WatchEvent::Deleted(raw)) => {
                    version = raw.resource_version().unwrap_or(version);
                    self.store.remove(&raw);
                }
                Ok(WatchEvent::Bookmark(bookmark)) => version = bookmark.metadata.resource_version,
                Ok(WatchEvent::Error(status)) if status.code == 410 => {
                    return (version, End::Expired);
                }
                Ok(WatchEvent::Error(status)) => return (version, End::Failed(status.message)),
                Err(kube::Error::SerdeError(error)) => {
                    warn!(kind = self.kind(), %error, "an event was not understood and is left out");
                }
                Err(error) => return (version, End::Failed(chain(&error))),
            }
        }
    }

    /// A list is complete.
    fn arrived(&mut self, listed: &mut bool) {
        if let Some(served) = &mut self.served {
            served.set(true, &self.store);
        }
        self.store.is_broken(self.scope(), None);
        self.first(listed);
        debug!(kind = self.kind(), objects = self.store.len(), "listed");
    }

    async fn not_listed(&mut self, error: &Error, listed: &mut bool, delay: &mut Delay) {
        let missing = error.status().is_some_and(|status| status.code == 404);
        if let Some(served) = self.served.as_mut().filter(|_| missing) {
            if served.set(false, &self.store) {
                info!(kind = self.store.kind.kind, "not served by this cluster; used when it is");
            }
            self.first(listed);
            return self.served_again(delay).await;
        }
        let text = if missing {
            format!("{} is not installed in this cluster; install its definition", self.resource())
        } else {
            chain(error)
        };
        warn!(kind = self.kind(), error = text, "cannot fill the cache; trying again");
        self.store.is_broken(self.scope(), Some(text));
        delay.wait().await;
    }

    async fn served_again(&mut self, delay: &mut Delay) {
        if let Some(served) = &mut self.served {
            served.changed(delay).await;
        }
    }

    fn first(&self, listed: &mut bool) {
        if !std::mem::replace(listed, true) {
            self.store.caught_up();
        }
    }

    fn kind(&self) -> &str {
        &self.store.kind.kind
    }

    fn scope(&self) -> &str {
        self.namespace.as_deref().unwrap_or("")
    }

    fn resource(&self) -> String {
        let kind = &self.store.kind;
        if kind.group.is_empty() {
            kind.plural.clone()
        } else {
            format!("{}.{}", kind.plural, kind.group)
        }
    }
}
