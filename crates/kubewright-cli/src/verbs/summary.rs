//! What `new`, `init` and `add` say at their end: the diff, or what was written and how to go on.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::output::{self, Format};
use crate::scaffold::plan::Plan;
use crate::style::Paint;

/// How a verb that writes files ends.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Ending {
    /// Show what would change, as a diff, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: Format,
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    created: Vec<&'a Path>,
    changed: Vec<&'a Path>,
    /// What was there already and stays as it is.
    kept: Vec<&'a Path>,
}

impl Ending {
    /// Does what `plan` says, and answers with that and `closing`.
    pub(super) fn finish(self, plan: &Plan, closing: &str) -> anyhow::Result<()> {
        if self.dry_run && !self.format.is_json() {
            return output::write(coloured(&plan.diff()));
        }
        if !self.dry_run {
            plan.apply()?;
        }
        let (created, changed) = plan.paths();
        let kept = plan.kept.iter().map(AsRef::as_ref).collect();
        let answer = Answer { created, changed, kept };
        self.format.answer(&answer, || format!("{}\n{closing}", answer.text()))
    }

    /// Nothing was to be done, for this reason.
    pub(super) fn nothing(self, sentence: &str) -> anyhow::Result<()> {
        let answer = Answer { created: Vec::new(), changed: Vec::new(), kept: Vec::new() };
        self.format.answer(&answer, || format!("{sentence}\n"))
    }
}

impl Answer<'_> {
    fn text(&self) -> String {
        let paint = Paint::stdout();
        let mut text = String::new();
        for (word, paths) in
            [("created", &self.created), ("changed", &self.changed), ("kept   ", &self.kept)]
        {
            for path in paths {
                text.extend(["  ", &paint.good(word), "  ", &path.display().to_string(), "\n"]);
            }
        }
        text
    }
}

/// A diff as people are used to see it.
fn coloured(diff: &str) -> String {
    let paint = Paint::stdout();
    let line = |line: &str| match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => paint.heading(line),
        [b'-', ..] => paint.wrong(line),
        [b'+', ..] => paint.good(line),
        _ => line.to_owned(),
    };
    diff.lines().flat_map(|text| [line(text), "\n".to_owned()]).collect()
}
