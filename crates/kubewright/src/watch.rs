//! Keeps one cache up to date: lists it, then follows the watch, and lists again only when the server has
//! forgotten where we were. Every request has a deadline, every failure a delay; it never gives up.

pub(crate) mod delay;
mod follow;
mod rewound;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kube::Api;
use kube::api::ListParams;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use crate::error::{Error, chain};
use crate::metrics::WatchMetrics;
use crate::raw::Raw;
use crate::served::Served;
use crate::store::{Arrival, Store};
use crate::write::resource;
use delay::Delay;

/// One page of a list: what is in memory twice while it is taken in.
const PAGE: u32 = 200;
/// A page of a list in etcd takes milliseconds; a server under water takes seconds.
const LIST_DEADLINE: Duration = Duration::from_mins(1);

/// One watch of one kind in one scope.
pub(crate) struct Watch {
    pub(crate) api: Api<Raw>,
    pub(crate) store: Arc<Store>,
    /// None for all namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) metrics: WatchMetrics,
    /// For a kind that the cluster need not serve.
    pub(crate) served: Option<Served>,
    /// The version that was reached last.
    pub(crate) reached: u64,
    /// The newest that any watch has reached: all kinds count together.
    pub(crate) newest: Arc<AtomicU64>,
    /// Told when the server answers any of them after a failure.
    pub(crate) answering: Arc<Notify>,
    /// Since an attempt failed, nobody has looked whether the data is still the same: whoever answers now
    /// may be another server.
    pub(crate) doubtful: bool,
}

/// Why a watch ended.
enum End {
    /// The server closed it in good order.
    Closed,
    /// The server has forgotten our place: list again.
    Expired,
    /// The definition of the kind was deleted.
    Gone,
    Failed(String),
}

impl Watch {
    /// Runs until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut delay = Delay::default();
        let mut place: Option<String> = None;
        let mut listed = false;
        loop {
            let resumed = place.is_some();
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
            self.reached = reached.parse().unwrap_or(0);
            self.newest.fetch_max(self.reached, Ordering::AcqRel);
            self.doubtful |= matches!(end, End::Failed(_));
            self.metrics.restarted();
            let lasted = started.elapsed();
            match end {
                End::Closed if lasted > Duration::from_secs(5) => delay.reset(),
                End::Closed => self.pause(&mut delay).await,
                End::Expired => {
                    debug!(kind = self.kind(), "the server has forgotten our place: listing again");
                    // One that forgets what it has just told us must not be asked at once.
                    if !resumed && lasted < Duration::from_secs(5) {
                        delay.wait().await;
                    }
                    continue;
                }
                End::Gone => {
                    self.not_served();
                    delay.reset();
                    self.served_again(&mut delay).await;
                    continue;
                }
                End::Failed(error) => {
                    warn!(kind = self.kind(), error, "watch interrupted");
                    self.store.is_broken(self.scope(), Some(error));
                    if lasted > Duration::from_mins(2) {
                        delay.reset();
                    }
                    self.pause(&mut delay).await;
                }
            }
            place = Some(reached);
        }
    }

    /// Lists everything, page by page. Answers with the version to watch from.
    async fn list(&self) -> Result<String, Error> {
        let round = self.store.begin().since(self.known());
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
                    version.clear();
                    continue;
                }
                Ok(Err(error)) => {
                    let resource = self.resource();
                    let action = format!("list {resource}");
                    return Err(Error::api(&self.store.manager, "list", &resource, action, error));
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
            if parameters.continue_token.is_none() && round.is_rewound() {
                self.check_restored(round.newest()).await?;
            }
            page.items.iter_mut().for_each(|raw| raw.is_listed_as(&self.store.kind.api_version));
            self.store.learn(&page.items);
            for raw in page.items.into_iter().filter(|raw| self.store.admits(raw)) {
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

    /// The version that the server's data cannot be older than, unless it was restored from a backup.
    fn known(&self) -> u64 {
        if self.doubtful {
            self.newest.load(Ordering::Acquire).max(self.reached)
        } else {
            self.reached
        }
    }

    /// Waits after a failure, or until the server answers another watch: the kinds are to come back
    /// together, because a pass over the new state of one and the old state of another only fails.
    async fn pause(&self, delay: &mut Delay) {
        tokio::select! {
            () = delay.wait() => {}
            () = self.answering.notified() => {}
        }
    }

    /// A list is complete.
    fn arrived(&mut self, listed: &mut bool) {
        self.doubtful = false;
        self.answering.notify_waiters();
        if let Some(served) = &mut self.served {
            served.set(true, &self.store);
        }
        self.store.is_broken(self.scope(), None);
        self.first(listed);
        debug!(kind = self.kind(), objects = self.store.len(), "listed");
    }

    async fn not_listed(&mut self, error: &Error, listed: &mut bool, delay: &mut Delay) {
        let missing = error.status().is_some_and(|status| status.code == 404);
        if missing && self.served.is_some() {
            self.not_served();
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
        self.pause(delay).await;
    }

    fn not_served(&mut self) {
        if self.served.as_mut().is_some_and(|served| served.set(false, &self.store)) {
            info!(kind = self.kind(), "not served by this cluster; used when it is");
        }
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
        resource(&self.store.kind)
    }
}
