//! Which optional kinds the cluster serves. Watches the metadata of custom resource definitions, so that
//! nothing has to be asked again and again.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, WatchParams};
use kube::core::WatchEvent;
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::debug;

use crate::error::chain;
use crate::store::Store;
use crate::watch::delay::Delay;

/// A definition is served some seconds after it was created; it is looked for this often.
const LOOKS: u8 = 5;

/// Whether one optional kind is served.
pub(crate) struct Served {
    /// What the handles look at.
    pub(crate) flags: Vec<Arc<AtomicBool>>,
    pub(crate) definitions: watch::Receiver<u64>,
    looks: u8,
}

impl Served {
    pub(crate) fn new(flags: Vec<Arc<AtomicBool>>, definitions: watch::Receiver<u64>) -> Self {
        Self { flags, definitions, looks: 0 }
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

    /// Waits until the definitions have changed, or, shortly after they have, a moment.
    pub(crate) async fn changed(&mut self, delay: &mut Delay) {
        if self.looks > 0 {
            self.looks -= 1;
            return delay.wait().await;
        }
        if self.definitions.changed().await.is_err() {
            std::future::pending::<()>().await; // the operator stops
        }
        self.looks = LOOKS;
        delay.reset();
    }
}

/// Counts up with every change of any definition. Runs until it is dropped.
pub(crate) async fn watch_definitions(client: Client, changes: watch::Sender<u64>) {
    let api: Api<CustomResourceDefinition> = Api::all(client);
    let mut delay = Delay::default();
    loop {
        match follow(&api, &changes).await {
            Ok(()) => delay.reset(),
            Err(error) => {
                debug!(error = chain(&error), "cannot watch definitions; trying again");
                delay.wait().await;
            }
        }
    }
}

async fn follow(
    api: &Api<CustomResourceDefinition>,
    changes: &watch::Sender<u64>,
) -> kube::Result<()> {
    // One item is enough: the version is what is wanted.
    let list = api.list_metadata(&ListParams::default().limit(1)).await?;
    changes.send_modify(|count| *count += 1);
    let mut version = list.metadata.resource_version.unwrap_or_default();
    loop {
        let parameters =
            WatchParams { timeout: Some(290), bookmarks: true, ..WatchParams::default() };
        let events = api.watch_metadata(&parameters, &version).await?;
        let mut events = pin!(events);
        while let Ok(Some(event)) = timeout(Duration::from_secs(150), events.next()).await {
            match event? {
                WatchEvent::Added(object)
                | WatchEvent::Modified(object)
                | WatchEvent::Deleted(object) => {
                    version = object.resource_version().unwrap_or(version);
                    changes.send_modify(|count| *count += 1);
                }
                WatchEvent::Bookmark(bookmark) => version = bookmark.metadata.resource_version,
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            }
        }
    }
}
