//! One operator on one fresh API server: the phases in their order, and where their figures go.

use std::time::{Duration, Instant};

use kubewright_bench::durations::Durations;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_bench::results::{Case, Results, Sample, Series};
use tokio::sync::oneshot;

/// Where the figures of a session go.
pub(crate) struct Out<'a> {
    pub(crate) results: &'a mut Results,
    pub(crate) case: Case,
    pub(crate) round: usize,
}

impl Out<'_> {
    /// A figure.
    pub(crate) fn add(&mut self, phase: &str, metric: &str, value: f64) {
        let Case { profile, objects, subject } = self.case;
        progress(&format!(
            "{profile:?} {objects} {subject:?} #{}: {phase} {metric} = {value:.3}",
            self.round
        ));
        self.results.samples.push(Sample {
            case: self.case,
            round: self.round,
            phase: phase.to_owned(),
            metric: metric.to_owned(),
            value,
        });
    }

    /// A curve.
    pub(crate) fn curve(&mut self, phase: &str, metric: &str, points: Vec<(f64, f64)>) {
        self.results.series.push(Series {
            case: self.case,
            round: self.round,
            phase: phase.to_owned(),
            metric: metric.to_owned(),
            points,
        });
    }

    /// Latencies: their usual percentiles, and their distribution.
    pub(crate) fn latencies(&mut self, phase: &str, latencies: &[Duration]) {
        let mut durations = Durations::default();
        for latency in latencies {
            durations.add(*latency);
        }
        for (metric, percent) in [("p50_ms", 50), ("p99_ms", 99), ("max_ms", 100)] {
            self.add(phase, metric, durations.within(percent));
        }
        let percents =
            (1..=100u8).map(|percent| (f64::from(percent), durations.within(percent.into())));
        self.curve(phase, "latency_ms", percents.collect());
    }
}

/// Looks at the memory of a process ten times a second.
pub(crate) struct Sampler {
    stop: oneshot::Sender<()>,
    points: tokio::task::JoinHandle<Vec<(f64, f64)>>,
}

impl Sampler {
    pub(crate) fn start(process: &Process) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let (look, began) = (process.rss_probe(), Instant::now());
        let points = tokio::spawn(async move {
            let mut points = Vec::new();
            let mut tick = tokio::time::interval(Duration::from_millis(100));
            loop {
                tokio::select! {
                    _ = &mut stopped => return points,
                    _ = tick.tick() => points.extend(look().map(|mebibytes| (began.elapsed().as_secs_f64(), mebibytes))),
                }
            }
        });
        Self { stop, points }
    }

    pub(crate) async fn finish(self) -> anyhow::Result<Vec<(f64, f64)>> {
        let _ = self.stop.send(()); // it may have ended already
        Ok(self.points.await?)
    }
}
