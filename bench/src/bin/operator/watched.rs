//! Objects as a client sees them change: waits on a watch, so that what is waited for is seen when it
//! happens, and not when somebody asks next.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::{Api, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;

/// Nothing that works takes this long.
const LIMIT: Duration = Duration::from_mins(8);
/// The longest that a client of `kube` may ask for, in seconds.
const WATCH: u32 = 290;

/// Which of the objects of an API are watched.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    All,
    Named(&'a str),
    Labelled(&'a str, &'a str),
}

/// Objects by name, kept up to date.
pub(crate) struct Watched<K> {
    api: Api<K>,
    list: ListParams,
    events: BoxStream<'static, kube::Result<WatchEvent<K>>>,
    objects: BTreeMap<String, K>,
}

impl<K: Resource + Clone + Debug + DeserializeOwned + Send + 'static> Watched<K> {
    /// Begins with the objects that there are.
    pub(crate) async fn start(api: Api<K>, which: Which<'_>) -> anyhow::Result<Self> {
        let list = match which {
            Which::All => ListParams::default(),
            Which::Named(name) => ListParams::default().fields(&format!("metadata.name={name}")),
            Which::Labelled(key, value) => ListParams::default().labels(&format!("{key}={value}")),
        };
        let events = futures_util::stream::empty().boxed();
        let mut watched = Self { api, list, events, objects: BTreeMap::new() };
        watched.restart().await?;
        Ok(watched)
    }

    async fn restart(&mut self) -> anyhow::Result<()> {
        let list = self.api.list(&self.list).await?;
        let version = list.metadata.resource_version.context("a list without a version")?;
        self.objects = list.items.into_iter().map(|item| (item.name_any(), item)).collect();
        let watch = WatchParams {
            label_selector: self.list.label_selector.clone(),
            field_selector: self.list.field_selector.clone(),
            ..WatchParams::default().timeout(WATCH)
        };
        self.events = self.api.watch(&watch, &version).await?.boxed();
        Ok(())
    }

    /// Waits until `holds` is true of the objects.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        holds: impl Fn(&BTreeMap<String, K>) -> bool,
    ) -> anyhow::Result<()> {
        let waited = tokio::time::timeout(LIMIT, async {
            while !holds(&self.objects) {
                self.next().await?;
            }
            anyhow::Ok(())
        });
        waited.await.with_context(|| format!("{what}: not after {LIMIT:?}"))?
    }

    async fn next(&mut self) -> anyhow::Result<()> {
        match self.events.try_next().await? {
            Some(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                self.objects.insert(object.name_any(), object);
            }
            Some(WatchEvent::Deleted(object)) => {
                self.objects.remove(&object.name_any());
            }
            Some(WatchEvent::Bookmark(_)) => {}
            Some(WatchEvent::Error(_)) | None => self.restart().await?,
        }
        Ok(())
    }
}
