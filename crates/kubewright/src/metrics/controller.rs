//! `controller_runtime_*`: what the workers of a controller do.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{Labels, set};

/// controller-runtime's, 5 ms to 60 s.
const RECONCILE_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReconcileResult {
    /// Nothing to do until something changes.
    Success,
    /// The object asked to be looked at again.
    RequeueAfter,
    /// The pass failed, was too slow or panicked.
    Error,
}

/// The families that all controllers share.
#[derive(Clone)]
pub(super) struct Controllers {
    total: Family<Labels<2>, Counter>,
    errors: Family<Labels<1>, Counter>,
    terminal_errors: Family<Labels<1>, Counter>,
    panics: Family<Labels<1>, Counter>,
    timeouts: Family<Labels<1>, Counter>,
    time: Family<Labels<1>, Histogram, fn() -> Histogram>,
    workers: Family<Labels<1>, Gauge>,
    active: Family<Labels<1>, Gauge>,
}

impl Controllers {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            total: Family::default(),
            errors: Family::default(),
            terminal_errors: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            time: Family::new_with_constructor(|| Histogram::new(RECONCILE_BUCKETS)),
            workers: Family::default(),
            active: Family::default(),
        };
        let Self { total, errors, terminal_errors, panics, timeouts, time, workers, active } =
            families.clone();
        let mut named = |name, help, counter| {
            registry.register(format!("controller_runtime_{name}"), help, counter);
        };
        named("reconcile_errors", "Passes that failed", errors);
        named(
            "terminal_reconcile_errors",
            "Passes that failed and are not repeated until something changes",
            terminal_errors,
        );
        named("reconcile_panics", "Passes that panicked", panics);
        named("reconcile_timeouts", "Passes that were ended by their deadline", timeouts);
        registry.register("controller_runtime_reconcile", "Passes by how they ended", total);
        registry.register(
            "controller_runtime_reconcile_time_seconds",
            "How long a pass takes",
            time,
        );
        registry.register(
            "controller_runtime_max_concurrent_reconciles",
            "How many passes may run at a time",
            workers,
        );
        registry.register(
            "controller_runtime_active_workers",
            "How many passes run at this moment",
            active,
        );
        families
    }

    pub(super) fn controller(&self, name: &str, workers: usize) -> ControllerMetrics {
        let labels = [("controller", name.to_owned())];
        let total = |result: &str| {
            let labels = [("controller", name.to_owned()), ("result", result.to_owned())];
            self.total.get_or_create_owned(&labels)
        };
        // Never counted, because there is no such outcome here; dashboards add it up nevertheless.
        total("requeue");
        set(&self.workers.get_or_create(&labels), workers);
        ControllerMetrics {
            success: total("success"),
            requeue_after: total("requeue_after"),
            error: total("error"),
            errors: self.errors.get_or_create_owned(&labels),
            terminal_errors: self.terminal_errors.get_or_create_owned(&labels),
            panics: self.panics.get_or_create_owned(&labels),
            timeouts: self.timeouts.get_or_create_owned(&labels),
            time: self.time.get_or_create_owned(&labels),
            active: self.active.get_or_create_owned(&labels),
        }
    }
}

/// The series of one controller.
#[derive(Clone)]
pub(crate) struct ControllerMetrics {
    success: Counter,
    requeue_after: Counter,
    error: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    time: Histogram,
    active: Gauge,
}

impl ControllerMetrics {
    /// A worker begins a pass. `finished` must follow.
    pub(crate) fn started(&self) {
        self.active.inc();
    }

    /// A worker has ended a pass.
    pub(crate) fn finished(&self, result: ReconcileResult, took: Duration) {
        self.active.dec();
        self.time.observe(took.as_secs_f64());
        match result {
            ReconcileResult::Success => self.success.inc(),
            ReconcileResult::RequeueAfter => self.requeue_after.inc(),
            ReconcileResult::Error => {
                self.errors.inc();
                self.error.inc()
            }
        };
    }

    /// The pass failed and is not repeated; comes in addition to `finished`, as the next two do.
    pub(crate) fn terminal_error(&self) {
        self.terminal_errors.inc();
    }

    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }

    pub(crate) fn timed_out(&self) {
        self.timeouts.inc();
    }
}
