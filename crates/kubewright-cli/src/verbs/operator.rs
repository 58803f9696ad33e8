//! The verbs that the operator itself answers: `install`, `uninstall`, `run`, `generate`. Passes them
//! on, so that they can be typed without knowing the operator's name.

use clap::Args;

use super::run_bundle::RunBundle;
use super::up::Local;
use crate::project::Project;

/// What is passed on.
#[derive(Debug, Args)]
pub(super) struct Passed {
    /// What the operator is given; `-- --help` makes it tell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl Passed {
    /// The operator's own `verb`, which ends this program: what it says and its exit code are the answer.
    pub(super) fn run(self, verb: &str) -> anyhow::Result<()> {
        let arguments: Vec<_> = std::iter::once(verb.to_owned()).chain(self.arguments).collect();
        Err(Project::find()?.become_operator(&arguments))
    }

    /// The operator's `run`; with `--local` among the arguments, what `up local` does; with `bundle` as the
    /// first, a bundle through OLM.
    pub(super) fn run_operator(self) -> anyhow::Result<()> {
        if let Some(run) = RunBundle::asked_for(&self.arguments) {
            return run?.run();
        }
        match Local::asked_for(&self.arguments) {
            None => self.run("run"),
            Some(local) => local?.run(),
        }
    }

    /// The operator's `generate`; everything that there is, unless something is named.
    pub(super) fn generate(mut self) -> anyhow::Result<()> {
        if self.arguments.is_empty() {
            self.arguments.push("all".to_owned());
        }
        self.run("generate")
    }
}
