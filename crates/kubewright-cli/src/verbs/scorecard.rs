//! `kubewright scorecard`: tells what came of the scorecard's static tests.

use std::path::PathBuf;

use clap::Args;

use crate::bundle::scorecard::{State, Test, tests};
use crate::bundle::{self};
use crate::output::Format;
use crate::style::Paint;

#[derive(Debug, Args)]
pub(super) struct Scorecard {
    /// The folder of the bundle
    #[arg(default_value = "bundle", value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Scorecard {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let tests = tests(&bundle::read(&self.folder)?);
        self.format.answer(&tests, || text(&tests, Paint::stdout()))?;
        let failed = tests.iter().filter(|test| test.state == State::Fail).count();
        anyhow::ensure!(failed == 0, "{failed} of {} tests failed", tests.len());
        Ok(())
    }
}

fn text(tests: &[Test], paint: Paint) -> String {
    let mut text = String::new();
    for Test { name, state, errors, suggestions } in tests {
        let word = match state {
            State::Pass => paint.good("pass"),
            State::Fail => paint.wrong("fail"),
        };
        text.extend([&word, "  ", name, "\n"]);
        let said = errors.iter().map(|error| format!("      {error}\n"));
        let meant = suggestions.iter().map(|it| format!("      suggestion: {it}\n"));
        text.extend(said.chain(meant));
    }
    text
}
