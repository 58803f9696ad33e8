//! Which optional kinds the cluster serves. Watches the metadata of custom resource definitions, so that
//! nothing has to be asked again and again.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, WatchParams};
use kube::core::WatchEvent;
use kube::discovery::ApiResource;
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tracing::debug;

use crate::error::chain;
use crate::store::Store;
use crate::watch::delay::Delay;

/// A definition is served some seconds after it was created; it is looked for this often.
const LOOKS: u8 = 5;
/// So often after it was deleted: it may have been created again before that was heard of.
const LOOKS_AFTERWARDS: u8 = 2;

/// What has become of the definitions of optional kinds.
#[derive(Default)]
pub(crate) struct Definitions {
    /// How often all were listed: any of them may have changed before.
    listed: u64,
    /// By name. Those of others are of no interest.
    each: BTreeMap<String, News>,
}

/// How often a definition was changed, and how often deleted.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct News {
    changed: u64,
    deleted: u64,
}

impl Definitions {
    /// Nothing is known yet of these.
    pub(crate) fn of(names: impl Iterator<Item = String>) -> Self {
        Self { listed: 0, each: names.map(|name| (name, News::default())).collect() }
    }

    fn news(&self, name: &str) -> News {
        self.each.get(name).copied().unwrap_or_default()
    }

    fn note(&mut self, name: &str, deleted: bool) -> bool {
        let Some(news) = self.each.get_mut(name) else { return false };
        news.changed += 1;
        news.deleted += u64::from(deleted);
        true
    }
}

/// The name of the definition of a kind.
pub(crate) fn definition(kind: &ApiResource) -> String {
    format!("{}.{}", kind.plural, kind.group)
}

/// Whether one optional kind is served.
pub(crate) struct Served {
    /// What the handles look at.
    flags: Vec<Arc<AtomicBool>>,
    name: String,
    definitions: watch::Receiver<Definitions>,
    seen: (u64, News),
    looks: u8,
}

impl Served {
    pub(crate) fn new(
        kind: &ApiResource,
        flags: Vec<Arc<AtomicBool>>,
        definitions: watch::Receiver<Definitions>,
    ) -> Self {
        let (name, seen) = (definition(kind), (0, News::default()));
        Self { flags, name, definitions, seen, looks: 0 }
    }

    /// Notes what was found, and lets every object be looked at again if it is news. True if it is.
    pub(crate) fn set(&mut self, served: bool, store: &Store) -> bool {
        if served {
            self.looks = 0;
        }
        let mut changed = false;
        for flag in &self.flags {
            changed |= flag.swap(served, Ordering::AcqRel) != served;
        }
        if changed {
            if !served {
                store.clear();
            }
            store.announce_all();
        }
        changed
    }

    /// Waits until the definition has changed, or, shortly after it has, a moment.
    pub(crate) async fn changed(&mut self, delay: &mut Delay) {
        if self.looks > 0 {
            self.looks -= 1;
            return delay.wait().await;
        }
        let (name, seen) = (&self.name, self.seen);
        let found = self.definitions.wait_for(|now| (now.listed, now.news(name)) != seen).await;
        let Ok(now) = found.map(|now| (now.listed, now.news(name))) else {
            return std::future::pending().await; // the operator stops
        };
        // After a list of all definitions one look tells; a new one is served in a moment.
        self.looks = if now.1 == seen.1 { 0 } else { LOOKS };
        self.seen = now;
        delay.reset();
    }

    /// Resolves when the definition is deleted. The API server goes on with a watch of its objects for
    /// a minute or two, and tells nothing.
    pub(crate) async fn deleted(&mut self) {
        let (name, seen) = (&self.name, self.seen.1);
        let found = self.definitions.wait_for(|now| now.news(name).deleted != seen.deleted).await;
        let Ok(now) = found.map(|now| (now.listed, now.news(name))) else {
            return std::future::pending().await; // the operator stops
        };
        self.seen = now;
        self.looks = LOOKS_AFTERWARDS;
    }
}

/// Notes every change of a definition. Runs until it is dropped.
pub(crate) async fn watch_definitions(client: Client, definitions: watch::Sender<Definitions>) {
    let api: Api<CustomResourceDefinition> = Api::all(client);
    let mut delay = Delay::default();
    loop {
        let started = Instant::now();
        if let Err(error) = follow(&api, &definitions).await {
            debug!(error = chain(&error), "cannot watch definitions; trying again");
        }
        if started.elapsed() > Duration::from_mins(2) {
            delay.reset();
        }
        delay.wait().await;
    }
}

/// Ends when the watch fails, or is ended as soon as it has begun.
async fn follow(
    api: &Api<CustomResourceDefinition>,
    definitions: &watch::Sender<Definitions>,
) -> kube::Result<()> {
    // One item is enough: the version is what is wanted.
    let list = api.list_metadata(&ListParams::default().limit(1)).await?;
    definitions.send_modify(|definitions| definitions.listed += 1);
    let mut version = list.metadata.resource_version.unwrap_or_default();
    loop {
        let started = Instant::now();
        let parameters =
            WatchParams { timeout: Some(290), bookmarks: true, ..WatchParams::default() };
        let events = api.watch_metadata(&parameters, &version).await?;
        let mut events = pin!(events);
        while let Ok(Some(event)) = timeout(Duration::from_secs(150), events.next()).await {
            let (object, deleted) = match event? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                WatchEvent::Bookmark(bookmark) => {
                    version = bookmark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            };
            let name = object.name_any();
            version = object.resource_version().unwrap_or(version);
            definitions.send_if_modified(|definitions| definitions.note(&name, deleted));
        }
        if started.elapsed() < Duration::from_secs(5) {
            return Ok(());
        }
    }
}
