//! Gauges that are asked for at the scrape, one series per label value.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

type Sample = Box<dyn Fn() -> u64 + Send + Sync>;

/// One family of such gauges.
pub(super) struct Sampled {
    name: &'static str,
    help: &'static str,
    label: &'static str,
    series: Mutex<Vec<(String, Sample)>>,
}

impl Sampled {
    pub(super) fn leading() -> Self {
        let help = "1 if this process holds the lease, else 0";
        Self::new("leader_election_master_status", help, "name")
    }

    pub(super) fn cached() -> Self {
        Self::new("kubewright_cached_objects", "Objects in the cache", "kind")
    }

    fn new(name: &'static str, help: &'static str, label: &'static str) -> Self {
        Self { name, help, label, series: Mutex::default() }
    }

    /// Adds the series with `value` as its label, or replaces the one that is there.
    pub(super) fn add(&self, value: &str, sample: impl Fn() -> u64 + Send + Sync + 'static) {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        series.retain(|(known, _)| known != value);
        series.push((value.to_owned(), Box::new(sample)));
    }
}

impl fmt::Debug for Sampled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Collector for Sampled {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        if series.is_empty() {
            return Ok(());
        }
        let mut family =
            encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?;
        for (value, sample) in series.iter() {
            let labels = [(self.label, value.as_str())];
            ConstGauge::new(sample()).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
