//! `rest_client_*`: requests to the API server. Retries are not among them: no client of this crate
//! repeats a request.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Labels;

/// client-go's.
const BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// What a client reports to.
#[derive(Clone)]
pub(crate) struct RequestMetrics {
    total: Family<Labels<3>, Counter>,
    duration: Family<Labels<2>, Histogram, fn() -> Histogram>,
}

impl RequestMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let requests = Self {
            total: Family::default(),
            duration: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
        };
        registry.register(
            "rest_client_requests",
            "Requests to the API server by status code, method and host",
            requests.total.clone(),
        );
        registry.register(
            "rest_client_request_duration_seconds",
            "How long the head of an answer takes, by method and host",
            requests.duration.clone(),
        );
        requests
    }

    /// A request was answered with `code`, or not at all: then `code` is `<error>`, as in client-go.
    pub(crate) fn answered(&self, method: &str, host: &str, code: &str, took: Duration) {
        let host = ("host", host.to_owned());
        let labels = [("code", code.to_owned()), ("method", method.to_owned()), host.clone()];
        self.total.get_or_create(&labels).inc();
        let labels = [("verb", method.to_owned()), host];
        self.duration.get_or_create(&labels).observe(took.as_secs_f64());
    }
}
