//! `controller_runtime_webhook_*` and `certwatcher_*`: calls of webhooks, and the certificate they are served
//! with. There only in operators that have webhooks.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Labels;

/// controller-runtime's, and below them: a call takes less than a millisecond.
const BUCKETS: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The families that all webhooks share.
#[derive(Clone)]
pub(crate) struct Webhooks {
    requests: Family<Labels<2>, Counter>,
    latency: Family<Labels<1>, Histogram, fn() -> Histogram>,
    in_flight: Family<Labels<1>, Gauge>,
    panics: Family<Labels<1>, Counter>,
    certificates: Counter,
    certificate_errors: Counter,
}

impl Webhooks {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            requests: Family::default(),
            latency: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Family::default(),
            panics: Family::default(),
            certificates: Counter::default(),
            certificate_errors: Counter::default(),
        };
        let named = |name: &str| format!("controller_runtime_webhook_{name}");
        let requests = families.requests.clone();
        registry.register(named("requests"), "Calls of webhooks by HTTP status", requests);
        let latency = families.latency.clone();
        registry.register(named("latency_seconds"), "How long an answer takes", latency);
        let in_flight = families.in_flight.clone();
        registry.register(named("requests_in_flight"), "Calls that are worked on", in_flight);
        registry.register(named("panics"), "Calls that panicked", families.panics.clone());
        registry.register(
            "certwatcher_read_certificate",
            "Certificates that were read to be served",
            families.certificates.clone(),
        );
        registry.register(
            "certwatcher_read_certificate_errors",
            "Certificates that could not be served",
            families.certificate_errors.clone(),
        );
        families
    }

    /// The series of the webhook at `path`, all there from now on with 0.
    pub(crate) fn webhook(&self, path: &str) -> WebhookMetrics {
        let webhook = [("webhook", path.to_owned())];
        for code in ["200", "500"] {
            drop(self.requests.get_or_create(&labels(code.to_owned(), path)));
        }
        WebhookMetrics {
            path: path.to_owned(),
            requests: self.requests.clone(),
            latency: self.latency.get_or_create_owned(&webhook),
            in_flight: self.in_flight.get_or_create_owned(&webhook),
            panics: self.panics.get_or_create_owned(&webhook),
        }
    }

    /// A certificate was read, and can be served or not.
    pub(crate) fn read_certificate(&self, is_good: bool) {
        self.certificates.inc();
        if !is_good {
            self.certificate_errors.inc();
        }
    }
}

/// The series of one webhook.
pub(crate) struct WebhookMetrics {
    path: String,
    requests: Family<Labels<2>, Counter>,
    latency: Histogram,
    in_flight: Gauge,
    panics: Counter,
}

/// A call that is worked on; one that is dropped was given up by whoever called.
pub(crate) struct Running<'a>(&'a WebhookMetrics);

impl WebhookMetrics {
    pub(crate) fn begin(&self) -> Running<'_> {
        self.in_flight.inc();
        Running(self)
    }

    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }
}

impl Running<'_> {
    /// It was answered with `code`.
    pub(crate) fn end(self, code: u16, took: Duration) {
        self.0.requests.get_or_create(&labels(code.to_string(), &self.0.path)).inc();
        self.0.latency.observe(took.as_secs_f64());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.in_flight.dec();
    }
}

fn labels(code: String, path: &str) -> Labels<2> {
    [("code", code), ("webhook", path.to_owned())]
}
