//! `workqueue_*`: how long objects wait, and how many. The queue counts for itself and is asked at the
//! scrape; only durations are reported as they happen.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Labels;
use crate::queue::QueueStats;

/// client-go's: 10 ns to 1000 s, by tens.
const BUCKETS: [f64; 12] =
    [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

type Durations = Family<Labels<2>, Histogram, fn() -> Histogram>;
type Stats = Box<dyn Fn() -> QueueStats + Send + Sync>;

/// The families that all queues share.
#[derive(Clone)]
pub(super) struct Queues {
    waited: Durations,
    worked: Durations,
    sampled: Arc<SampledQueues>,
}

impl Queues {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let durations = || Durations::new_with_constructor(|| Histogram::new(BUCKETS));
        let queues = Self { waited: durations(), worked: durations(), sampled: Arc::default() };
        registry.register(
            "workqueue_queue_duration_seconds",
            "How long an object waits before a worker takes it",
            queues.waited.clone(),
        );
        registry.register(
            "workqueue_work_duration_seconds",
            "How long a worker is busy with an object",
            queues.worked.clone(),
        );
        registry.register_collector(Box::new(Arc::clone(&queues.sampled)));
        queues
    }

    pub(super) fn queue(
        &self,
        name: &str,
        stats: impl Fn() -> QueueStats + Send + Sync + 'static,
    ) -> QueueMetrics {
        let mut queues = self.sampled.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|(known, _)| known != name);
        queues.push((name.to_owned(), Box::new(stats)));
        let labels = labels(name);
        QueueMetrics {
            waited: self.waited.get_or_create_owned(&labels),
            worked: self.worked.get_or_create_owned(&labels),
        }
    }
}

/// The durations of one queue.
#[derive(Clone)]
pub(crate) struct QueueMetrics {
    waited: Histogram,
    worked: Histogram,
}

impl QueueMetrics {
    /// An object was taken out of the queue after `waiting`.
    pub(crate) fn waited(&self, waiting: Duration) {
        self.waited.observe(waiting.as_secs_f64());
    }

    /// A worker was busy with an object for `working`.
    pub(crate) fn worked(&self, working: Duration) {
        self.worked.observe(working.as_secs_f64());
    }
}

/// controller-runtime gives both labels the same value.
fn labels(name: &str) -> Labels<2> {
    [("name", name.to_owned()), ("controller", name.to_owned())]
}

#[derive(Default)]
struct SampledQueues(Mutex<Vec<(String, Stats)>>);

impl fmt::Debug for SampledQueues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SampledQueues")
    }
}

impl Collector for SampledQueues {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sampled: Vec<_> = queues.iter().map(|(name, stats)| (labels(name), stats())).collect();
        drop(queues);
        if sampled.is_empty() {
            return Ok(());
        }
        depth(&mut encoder, &sampled)?;
        counter(&mut encoder, &sampled, "adds", "Objects put into the queue", |stats| stats.adds)?;
        let help = "Objects that came back because their pass failed";
        counter(&mut encoder, &sampled, "retries", help, |stats| stats.retries)?;
        let help = "How long the running passes have been running, added up";
        seconds(&mut encoder, &sampled, "unfinished_work", help, |stats| stats.unfinished)?;
        let help = "How long the oldest of the running passes has been running";
        seconds(&mut encoder, &sampled, "longest_running_processor", help, |stats| stats.longest)
    }
}

type Sample = (Labels<2>, QueueStats);

fn depth(encoder: &mut DescriptorEncoder, queues: &[Sample]) -> fmt::Result {
    let help = "Objects that wait for a worker";
    let mut family = encoder.encode_descriptor("workqueue_depth", help, None, MetricType::Gauge)?;
    for ([name, controller], stats) in queues {
        for (priority, depth) in [("0", stats.depth_high), ("-100", stats.depth_low)] {
            let priority = ("priority", priority.to_owned());
            let labels: Labels<3> = [name.clone(), controller.clone(), priority];
            ConstGauge::new(depth).encode(family.encode_family(&labels)?)?;
        }
    }
    Ok(())
}

fn counter(
    encoder: &mut DescriptorEncoder,
    queues: &[Sample],
    name: &str,
    help: &str,
    value: impl Fn(&QueueStats) -> u64,
) -> fmt::Result {
    let name = format!("workqueue_{name}");
    let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Counter)?;
    for (labels, stats) in queues {
        ConstCounter::new(value(stats)).encode(family.encode_family(labels)?)?;
    }
    Ok(())
}

fn seconds(
    encoder: &mut DescriptorEncoder,
    queues: &[Sample],
    name: &str,
    help: &str,
    value: impl Fn(&QueueStats) -> Duration,
) -> fmt::Result {
    let name = format!("workqueue_{name}_seconds");
    let mut family = encoder.encode_descriptor(&name, help, None, MetricType::Gauge)?;
    for (labels, stats) in queues {
        ConstGauge::new(value(stats).as_secs_f64()).encode(family.encode_family(labels)?)?;
    }
    Ok(())
}
