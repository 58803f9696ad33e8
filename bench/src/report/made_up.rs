//! Results for tests, that nobody measured.

use crate::results::{Case, Profile, Results, Sample, Series, Subject};

#[derive(Default)]
pub(super) struct MadeUp(Results);

impl MadeUp {
    /// A figure for each round.
    pub(super) fn add(
        mut self,
        subject: Subject,
        objects: usize,
        phase: &str,
        metric: &str,
        values: &[f64],
    ) -> Self {
        let case = Case { profile: Profile::NoFsync, objects, subject };
        self.0.samples.extend(values.iter().enumerate().map(|(round, value)| Sample {
            case,
            round,
            phase: phase.into(),
            metric: metric.into(),
            value: *value,
        }));
        self
    }

    /// A curve of round 0.
    pub(super) fn curve(
        mut self,
        subject: Subject,
        phase: &str,
        metric: &str,
        points: &[(f64, f64)],
    ) -> Self {
        self.0.series.push(Series {
            case: Case { profile: Profile::NoFsync, objects: 1000, subject },
            round: 0,
            phase: phase.into(),
            metric: metric.into(),
            points: points.to_vec(),
        });
        self
    }

    pub(super) fn results(&self) -> &Results {
        &self.0
    }
}
