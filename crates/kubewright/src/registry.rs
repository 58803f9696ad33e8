//! What all controllers of one operator share: its name, its caches by kind and selector, and, once it
//! runs, the one place that writes.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kube::discovery::ApiResource;
use tokio::sync::Notify;

use crate::error::Error;
use crate::store::{Mapping, Store};
use crate::write::Writer;

/// Shared by all controllers.
pub(crate) struct Registry {
    /// The operator's name: field manager, value of the managed-by label, finalizer.
    pub(crate) manager: Arc<str>,
    stores: Mutex<Vec<Arc<Store>>>,
    /// The newest resourceVersion that a watch has reached.
    pub(crate) newest: Arc<AtomicU64>,
    /// Told when the server answers a watch after a failure: who waits for it need not wait longer.
    pub(crate) answering: Arc<Notify>,
    writer: OnceLock<Writer>,
}

impl Registry {
    pub(crate) fn new(manager: &str) -> Self {
        Self {
            manager: manager.into(),
            stores: Mutex::default(),
            newest: Arc::default(),
            answering: Arc::default(),
            writer: OnceLock::new(),
        }
    }

    /// The one cache of a kind under a selector, whoever asks for it.
    pub(crate) fn store(
        &self,
        kind: &ApiResource,
        namespaced: bool,
        selector: Option<String>,
        mapping: &Mapping,
    ) -> Arc<Store> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let known = stores.iter().find(|store| {
            store.kind == *kind && store.selector == selector && store.mapping == *mapping
        });
        if let Some(store) = known {
            return store.clone();
        }
        let manager = self.manager.clone();
        let store = Store::new(kind.clone(), namespaced, selector, mapping.clone(), manager);
        let store = Arc::new(store);
        stores.push(store.clone());
        store
    }

    /// All caches.
    pub(crate) fn stores(&self) -> Vec<Arc<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on handles can write.
    pub(crate) fn go_live(&self, writer: Writer) {
        let _ = self.writer.set(writer);
    }

    /// Who writes, while the operator runs.
    pub(crate) fn writer(&self) -> Result<&Writer, Error> {
        self.writer.get().ok_or(Error::NotRunning)
    }
}
