//! What the benchmark found out, for people: tables for a terminal, a page of Markdown, and plots. Text
//! from figures, and nothing else; only `Report::write` touches the disk.

pub mod figure;
pub mod glance;
pub mod measured;
pub mod must_hold;
pub mod page;
pub mod phases;
pub mod plot;
pub mod plots;
pub mod summary;
pub mod table;
pub mod words;

#[cfg(test)]
mod made_up;

use std::path::Path;

use anyhow::Context as _;

use crate::bars::Bars;
use crate::results::{Profile, Results};
use plots::Drawn;

/// Everything that is shown.
pub struct Report {
    /// For the terminal.
    pub terminal: String,
    /// The page that shows the plots too.
    pub markdown: String,
    /// The plots.
    pub plots: Vec<Drawn>,
    /// What must hold, for each way in which etcd was run.
    pub bars: Vec<(Profile, Bars)>,
}

impl Report {
    /// Of these figures.
    pub fn of(results: &Results) -> Self {
        let bars: Vec<_> = measured::profiles(results)
            .into_iter()
            .map(|profile| (profile, must_hold::must_hold(results, profile)))
            .collect();
        let plots = plots::plots(results);
        Self {
            terminal: page::terminal(results, &bars),
            markdown: page::markdown(results, &bars, &plots),
            plots,
            bars,
        }
    }

    /// Writes `README.md` and the plots into the folder of the results.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
        };
        write("README.md", &self.markdown)?;
        self.plots.iter().try_for_each(|plot| write(&plot.file, &plot.svg))
    }
}
