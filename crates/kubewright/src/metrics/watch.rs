//! `kubewright_watch_*`: how often a watch had to begin again.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Labels;

/// The families that all watches share.
#[derive(Clone)]
pub(super) struct Watches {
    restarts: Family<Labels<1>, Counter>,
    relists: Family<Labels<1>, Counter>,
}

impl Watches {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let watches = Self { restarts: Family::default(), relists: Family::default() };
        registry.register(
            "kubewright_watch_restarts",
            "Watches that were opened again where the last one had ended",
            watches.restarts.clone(),
        );
        registry.register(
            "kubewright_watch_relists",
            "Watches that had to list all objects again",
            watches.relists.clone(),
        );
        watches
    }

    pub(super) fn watch(&self, kind: &str) -> WatchMetrics {
        let labels = [("kind", kind.to_owned())];
        WatchMetrics {
            restarts: self.restarts.get_or_create_owned(&labels),
            relists: self.relists.get_or_create_owned(&labels),
        }
    }
}

/// The series of the watch of one kind.
#[derive(Clone)]
pub(crate) struct WatchMetrics {
    restarts: Counter,
    relists: Counter,
}

impl WatchMetrics {
    /// The watch goes on where it had ended.
    pub(crate) fn restarted(&self) {
        self.restarts.inc();
    }

    /// The watch lists everything again.
    pub(crate) fn relisted(&self) {
        self.relists.inc();
    }
}
