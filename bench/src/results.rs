//! What was measured, as it is kept in `bench/results/*.json`: single values, and series of points. What
//! they are compared with is not here.

use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// Who was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The memcached operator, as it ships.
    Ours,
    /// The same operator in Go, as it is scaffolded.
    GoStock,
    /// The same with as many workers as ours has.
    GoTuned,
    /// Sends the requests of ours, as fast as the API server takes them: the limit of throughput.
    NullWriter,
    /// Answers each event with fixed bodies: the limit of latency.
    IdealReactor,
}

/// What etcd does before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// It waits for the disk, as in production.
    Durable,
    /// It does not, as in test environments.
    NoFsync,
}

/// What belongs together: the same thing done to the same operator with as many objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// How etcd was run.
    pub profile: Profile,
    /// How many objects there were.
    pub objects: usize,
    /// Who was measured.
    pub subject: Subject,
}

/// A single figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Of what.
    #[serde(flatten)]
    pub case: Case,
    /// The round, from 0.
    pub round: usize,
    /// What was done, such as `backlog`.
    pub phase: String,
    /// What was measured, with its unit, such as `cpu_seconds`.
    pub metric: String,
    /// The figure.
    pub value: f64,
}

/// Points of a curve, such as memory over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Of what.
    #[serde(flatten)]
    pub case: Case,
    /// The round, from 0.
    pub round: usize,
    /// What was done.
    pub phase: String,
    /// What was measured, with its unit, such as `rss_mib`.
    pub metric: String,
    /// Pairs of x, usually seconds, and y.
    pub points: Vec<(f64, f64)>,
}

/// What a run of the benchmark found out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// When and on what, in words.
    pub machine: Vec<String>,
    /// The figures.
    pub samples: Vec<Sample>,
    /// The curves.
    pub series: Vec<Series>,
}

impl Results {
    /// Reads what an earlier run wrote.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let read =
            || -> anyhow::Result<Self> { Ok(serde_json::from_slice(&std::fs::read(file)?)?) };
        read().with_context(|| format!("cannot read {}", file.display()))
    }

    /// Takes in what another run found out, as rounds of their own: what is compared within a round was
    /// measured in one run.
    pub fn append(&mut self, other: Self) {
        let Self { machine, samples, series } = other;
        let rounds = self.samples.iter().map(|sample| sample.round);
        let next = rounds
            .chain(self.series.iter().map(|series| series.round))
            .max()
            .map_or(0, |last| last + 1);
        for line in machine {
            if !self.machine.contains(&line) {
                self.machine.push(line);
            }
        }
        let later = |round: usize| round + next;
        self.samples.extend(
            samples.into_iter().map(|sample| Sample { round: later(sample.round), ..sample }),
        );
        self.series.extend(
            series.into_iter().map(|series| Series { round: later(series.round), ..series }),
        );
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let partial = file.with_extension("partial");
        let write = || -> anyhow::Result<()> {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&partial, serde_json::to_vec(self)?)?;
            Ok(std::fs::rename(&partial, file)?)
        };
        write().with_context(|| format!("cannot write {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_for_the_results_need_not_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results/bench.json");
        Results::default().write(&file).unwrap();
        assert!(file.is_file());
    }

    #[test]
    fn another_run_comes_as_rounds_of_its_own() {
        let case = Case { profile: Profile::Durable, objects: 1, subject: Subject::Ours };
        let sample = |round| {
            let (phase, metric) = ("backlog".to_owned(), "seconds".to_owned());
            Sample { case, round, phase, metric, value: 1.0 }
        };
        let run = Results {
            machine: vec!["two cores".to_owned()],
            samples: vec![sample(0), sample(1)],
            series: Vec::new(),
        };
        let mut all = Results::default();
        all.append(run.clone());
        assert_eq!(all, run);
        all.append(run);
        assert_eq!(all.machine, ["two cores"]);
        let rounds: Vec<_> = all.samples.iter().map(|sample| sample.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3]);
    }
}
