//! Questions to the results of one profile: what was measured of whom, and the least time that the work
//! can take. Knows no bar and no word of a table.

use std::collections::BTreeSet;

use super::summary::Rounds;
use crate::results::{Case, Profile, Results, Sample, Subject};

/// The writes that an object promises: finalizer, Deployment, Service, status.
pub const WRITES: f64 = 4.0;

/// The profiles of which there is anything.
pub fn profiles(results: &Results) -> BTreeSet<Profile> {
    let samples = results.samples.iter().map(|sample| sample.case.profile);
    samples.chain(results.series.iter().map(|series| series.case.profile)).collect()
}

/// What was measured with one profile.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    results: &'a Results,
    profile: Profile,
}

impl<'a> Measured<'a> {
    /// Of these results.
    pub fn new(results: &'a Results, profile: Profile) -> Self {
        Self { results, profile }
    }

    /// With which profile.
    pub fn profile(self) -> Profile {
        self.profile
    }

    /// All its figures.
    pub fn samples(self) -> impl Iterator<Item = &'a Sample> {
        self.results.samples.iter().filter(move |sample| sample.case.profile == self.profile)
    }

    /// One figure, round by round.
    pub fn rounds(self, subject: Subject, objects: usize, phase: &str, metric: &str) -> Rounds {
        let case = Case { profile: self.profile, objects, subject };
        self.samples()
            .filter(|it| it.case == case && it.phase == phase && it.metric == metric)
            .map(|sample| (sample.round, sample.value))
            .collect()
    }

    /// With how many objects this was measured of whomever.
    pub fn objects(self, phase: &str, metric: &str) -> BTreeSet<usize> {
        self.samples()
            .filter(|sample| sample.phase == phase && sample.metric == metric)
            .map(|sample| sample.case.objects)
            .collect()
    }

    /// The least time in which the API server takes the writes of so many objects, in seconds: measured
    /// in the same round, with as many objects if there is such a figure.
    pub fn least_seconds(self, objects: usize) -> Rounds {
        const METRIC: &str = "writes_per_second";
        let mut rates = Rounds::new();
        for other in self.objects("limit", METRIC) {
            for (round, rate) in self.rounds(Subject::NullWriter, other, "limit", METRIC) {
                let best = rates.entry(round).or_insert(rate);
                *best = best.max(rate);
            }
        }
        rates.extend(self.rounds(Subject::NullWriter, objects, "limit", METRIC));
        rates.into_iter().map(|(round, rate)| (round, WRITES * number(objects) / rate)).collect()
    }

    /// The better one of the two in Go, in each round. Of both, less is better.
    pub fn least_of_go(self, objects: usize, phase: &str, metric: &str) -> Rounds {
        let mut least = self.rounds(Subject::GoStock, objects, phase, metric);
        for (round, value) in self.rounds(Subject::GoTuned, objects, phase, metric) {
            let best = least.entry(round).or_insert(value);
            *best = best.min(value);
        }
        least
    }
}

/// A count as a number to calculate with.
pub fn number(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "nobody counts to 2^52")]
    {
        count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::MadeUp;

    #[test]
    fn the_least_time_is_that_of_its_round_and_of_as_many_objects_if_there_is() {
        let made_up = MadeUp::default()
            .add(Subject::NullWriter, 1000, "limit", "writes_per_second", &[1000.0, 2000.0])
            .add(Subject::NullWriter, 100, "limit", "writes_per_second", &[4000.0, 400.0]);
        let measured = Measured::new(made_up.results(), Profile::NoFsync);
        assert_eq!(measured.least_seconds(1000), Rounds::from([(0, 4.0), (1, 2.0)]));
        assert_eq!(measured.least_seconds(10_000), Rounds::from([(0, 10.0), (1, 20.0)]));
        assert!(Measured::new(made_up.results(), Profile::Durable).least_seconds(1000).is_empty());
    }
}
