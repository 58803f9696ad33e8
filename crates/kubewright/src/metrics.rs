//! What the operator counts, as `OpenMetrics` text.
//!
//! Owns every metric name: the names, labels and buckets are controller-runtime's, so that its
//! dashboards and alerts work; what has no counterpart there starts with `kubewright_`. Does no IO but
//! for `/proc` at a scrape, and must not take a label from an object: label values are bounded by what
//! the program is made of.
//!
//! The encoder appends `_total` to the name of a counter itself, so counters are registered without.

mod controller;
mod process;
mod queue;
mod request;
mod sampled;
mod watch;
#[cfg(feature = "webhook")]
mod webhook;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::queue::QueueStats;
pub(crate) use controller::{ControllerMetrics, ReconcileResult};
pub(crate) use queue::QueueMetrics;
pub(crate) use request::RequestMetrics;
pub(crate) use watch::WatchMetrics;
#[cfg(feature = "webhook")]
pub(crate) use webhook::{WebhookMetrics, Webhooks};

use controller::Controllers;
use process::Process;
use queue::Queues;
use sampled::Sampled;
use watch::Watches;

/// A label set: keys with their values, in the order in which they are printed.
type Labels<const N: usize> = [(&'static str, String); N];

/// All metrics of one process. A clone is the same set.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    controllers: Controllers,
    queues: Queues,
    watches: Watches,
    requests: RequestMetrics,
    events_dropped: Counter,
    leading: Arc<Sampled>,
    cached: Arc<Sampled>,
    #[cfg(feature = "webhook")]
    webhooks: Option<Webhooks>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self::built(Registry::default())
    }

    /// The same, with those of webhooks.
    #[cfg(feature = "webhook")]
    pub(crate) fn with_webhooks() -> Self {
        let mut registry = Registry::default();
        let webhooks = Some(Webhooks::register(&mut registry));
        Self { webhooks, ..Self::built(registry) }
    }

    fn built(mut registry: Registry) -> Self {
        let sampled = |registry: &mut Registry, sampled: Sampled| {
            let sampled = Arc::new(sampled);
            registry.register_collector(Box::new(Arc::clone(&sampled)));
            sampled
        };
        let metrics = Self {
            controllers: Controllers::register(&mut registry),
            queues: Queues::register(&mut registry),
            watches: Watches::register(&mut registry),
            requests: RequestMetrics::register(&mut registry),
            events_dropped: Counter::default(),
            leading: sampled(&mut registry, Sampled::leading()),
            cached: sampled(&mut registry, Sampled::cached()),
            registry: Arc::default(),
            #[cfg(feature = "webhook")]
            webhooks: None,
        };
        registry.register(
            "kubewright_events_dropped",
            "Events that were not published because too many were waiting",
            metrics.events_dropped.clone(),
        );
        registry.register_collector(Box::new(Process));
        Self { registry: Arc::new(registry), ..metrics }
    }

    /// The series of the controller `name`, all there from now on with 0.
    pub(crate) fn controller(&self, name: &str, workers: usize) -> ControllerMetrics {
        self.controllers.controller(name, workers)
    }

    /// The series of the queue `name`; `stats` is called at every scrape and must not block.
    pub(crate) fn queue(
        &self,
        name: &str,
        stats: impl Fn() -> QueueStats + Send + Sync + 'static,
    ) -> QueueMetrics {
        self.queues.queue(name, stats)
    }

    /// Whether this process holds `lease`, asked at every scrape.
    pub(crate) fn leader(&self, lease: &str, leading: impl Fn() -> bool + Send + Sync + 'static) {
        self.leading.add(lease, move || u64::from(leading()));
    }

    /// What a client reports its answers to.
    pub(crate) fn requests(&self) -> RequestMetrics {
        self.requests.clone()
    }

    /// The series of webhooks, if there are some.
    #[cfg(feature = "webhook")]
    pub(crate) fn webhooks(&self) -> Option<Webhooks> {
        self.webhooks.clone()
    }

    /// Counts an event that was not published.
    pub(crate) fn events_dropped(&self) {
        self.events_dropped.inc();
    }

    /// The series of the watch of `kind`.
    pub(crate) fn watch(&self, kind: &str) -> WatchMetrics {
        self.watches.watch(kind)
    }

    /// How many objects of `kind` the cache holds, asked at every scrape.
    pub(crate) fn cached(&self, kind: &str, count: impl Fn() -> usize + Send + Sync + 'static) {
        self.cached.add(kind, move || count() as u64);
    }

    /// All series in the `OpenMetrics` text format.
    pub(crate) fn render(&self) -> String {
        let mut rendered = String::new();
        if text::encode(&mut rendered, &self.registry).is_err() {
            // Writing to a String does not fail; half an exposition would be read as a whole one.
            rendered.clear();
        }
        rendered
    }
}

/// A gauge that counts things, which never go below zero or beyond what 63 bits hold.
fn set(gauge: &Gauge, value: usize) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}
