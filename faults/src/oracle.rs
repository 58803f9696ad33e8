//! Right or wrong: what was seen of a run, judged against what always holds and against the clean run. Pure;
//! one file per invariant, named V1 to V7 as in the reports.

mod bounded;
mod guarded;
pub mod isolated;
mod own;
mod same;
mod settled;
mod truthful;

use serde_json::Value;

use crate::history::{Counts, Seen};
use crate::plan::{Fault, Scenario};
use crate::run::{Observed, Patience};

/// What a scenario comes to without a fault.
#[derive(Clone, Debug)]
pub struct Clean {
    /// What there is in the end, masked.
    pub end: Value,
    /// What happened to each object.
    pub counts: Counts,
    /// How many requests that took, at most.
    pub requests: usize,
    /// How much memory, in KiB, at most.
    pub memory: u64,
    /// How many files and sockets, at most.
    pub descriptors: usize,
}

impl Clean {
    /// Out of several runs without a fault, which must agree.
    ///
    /// # Errors
    /// What they do not agree on.
    pub fn of(runs: &[Observed]) -> Result<Self, String> {
        let first = runs.first().ok_or("there was no clean run")?;
        let clean = Self {
            end: first.end.clone(),
            counts: first.counts.clone(),
            requests: runs.iter().map(|run| run.sent.len()).max().unwrap_or_default(),
            memory: runs.iter().map(|run| run.memory).max().unwrap_or_default(),
            descriptors: runs.iter().map(|run| run.descriptors).max().unwrap_or_default(),
        };
        for run in runs {
            let wrong = same::judge(run, &clean);
            if !wrong.is_empty() {
                return Err(format!("clean runs differ: {}", wrong.join("; ")));
            }
        }
        Ok(clean)
    }
}

/// Everything that is wrong with a run, as sentences that begin with the invariant.
pub fn judge(
    scenario: Scenario,
    fault: Option<Fault>,
    run: &Observed,
    clean: &Clean,
    patience: Patience,
) -> Vec<String> {
    let wrong = [
        ("V1", settled::judge(run, patience)),
        ("V2", same::judge(run, clean)),
        ("V3", guarded::judge(run)),
        ("V4", bounded::judge(run, fault, clean)),
        ("V6", truthful::judge(run)),
        ("V7", own::judge(scenario, fault, run)),
    ];
    let named = |(id, sentences): (&str, Vec<String>)| {
        sentences.into_iter().map(|sentence| format!("{id}: {sentence}")).collect::<Vec<_>>()
    };
    wrong.into_iter().flat_map(named).collect()
}

/// What the operator can know of children that others change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// What there was when a spec was asked for.
    OnTime,
    /// Only what there was before that: the end of a child is on its way while the spec changes as well.
    Late,
}

/// V6 for a history of its own, as sentences.
pub fn truthful_history(history: &[Seen], news: News) -> Vec<String> {
    truthful::judge_history(history, news)
}

/// Where two states differ, as sentences.
pub(crate) fn differences(is: &Value, wanted: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    same::differences(is, wanted, &mut String::new(), &mut wrong);
    wrong
}
