//! Starts one watch per cache and namespace, and the readiness checks that follow from them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;

use super::Manager;
use crate::health::Health;
use crate::served::{Definitions, Served, definition, watch_definitions};
use crate::store::{Mapping, Store};
use crate::watch::Watch;
use crate::write::api;

/// A cache that is not kept up to date for longer makes the operator unready.
const STALE: Duration = Duration::from_secs(10);

impl Manager {
    pub(super) fn add_watches(&mut self, health: &Health, client: &Client) {
        let stores = self.shared.registry.stores();
        let optional = stores.iter().filter(|store| !store.optional_flags().is_empty());
        let optional: Vec<_> = optional.map(|store| definition(&store.kind)).collect();
        let is_used = !optional.is_empty();
        let definitions = watch::Sender::new(Definitions::of(optional.into_iter()));
        if is_used {
            self.background.spawn(watch_definitions(client.clone(), definitions.clone()));
        }
        for store in &stores {
            let (kind, counted) = (&store.kind.kind, store.clone());
            self.shared.metrics.cached(kind, move || counted.len());
            let flags = store.optional_flags();
            self.add_watches_of(store, client, &flags, &definitions);
        }
        health.ready("caches", move || {
            let failed: Vec<_> =
                stores.iter().filter_map(|store| store.check(STALE).err()).collect();
            if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
        });
    }

    fn add_watches_of(
        &mut self,
        store: &Arc<Store>,
        client: &Client,
        flags: &[Arc<AtomicBool>],
        definitions: &watch::Sender<Definitions>,
    ) {
        let namespaces = &self.shared.flags.namespaces;
        let scopes: Vec<Option<String>> = if store.namespaced && !namespaces.is_empty() {
            namespaces.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        store.expect_watches(scopes.len());
        for namespace in scopes {
            let served = (!flags.is_empty())
                .then(|| Served::new(&store.kind, flags.to_vec(), definitions.subscribe()));
            let watch = Watch {
                api: api(client, &store.kind, namespace.as_deref()),
                store: store.clone(),
                namespace,
                metrics: self.shared.metrics.watch(&store.kind.kind),
                served,
                reached: 0,
                newest: self.shared.registry.newest.clone(),
                answering: self.shared.registry.answering.clone(),
                doubtful: false,
            };
            // What is named is known only when those who name it are.
            let named = store.mapping == Mapping::Named;
            let first = if named { store.primaries() } else { Vec::new() };
            self.background.spawn(async move {
                for primary in first {
                    primary.until_synced().await;
                }
                watch.run().await;
            });
        }
    }
}
