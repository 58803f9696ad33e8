//! The verbs that the operator itself answers: `install`, `uninstall`, `run`, `generate`. Passes them
//! on, so that they can be typed without knowing the operator's name.

use clap::Args;

use crate::project::Project;

/// What is passed on.
#[derive(Debug, Args)]
pub(super) struct Passed {
    /// What the operator is given; `-- --help` makes it tell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Passed {
    /// Runs the operator's own `verb`.
    pub(super) fn run(self, verb: &str) -> anyhow::Result<()> {
        let arguments: Vec<_> = std::iter::once(verb.to_owned()).chain(self.arguments).collect();
        Project::find()?.run(&arguments)
    }
}
