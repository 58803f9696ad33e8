//! Starts one watch per cache and namespace, and the readiness checks that follow from them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;

use super::Manager;
use crate::health::Health;
use crate::served::{Served, watch_definitions};
use crate::store::Store;
use crate::watch::Watch;
use crate::write::api;

/// A cache that is not kept up to date for longer makes the operator unready.
const STALE: Duration = Duration::from_secs(10);

impl Manager {
    pub(super) fn add_watches(&mut self, health: &Health, client: &Client) {
        let stores = self.shared.registry.stores();
        let definitions = watch::Sender::new(0);
        if stores.iter().any(|store| !store.optional_flags().is_empty()) {
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
        definitions: &watch::Sender<u64>,
    ) {
        let namespaces = &self.shared.flags.namespaces;
        let scopes: Vec<Option<String>> = if store.namespaced && !namespaces.is_empty() {
            namespaces.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        store.expect_watches(scopes.len());
        for namespace in scopes {
            let served =
                (!flags.is_empty()).then(|| Served::new(flags.to_vec(), definitions.subscribe()));
            let watch = Watch {
                api: api(client, &store.kind, namespace.as_deref()),
                store: store.clone(),
                namespace,
                metrics: self.shared.metrics.watch(&store.kind.kind),
                served,
            };
            self.background.spawn(watch.run());
        }
    }
}
