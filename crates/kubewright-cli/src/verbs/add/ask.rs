//! The two questions that Kubebuilder asks where a command line does not say what is wanted.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::Context as _;

/// What is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) kind: bool,
    pub(super) controller: bool,
}

/// Asks whoever is at the terminal; if nobody is, both are wanted.
pub(super) fn wanted() -> anyhow::Result<Wanted> {
    if !std::io::stdin().is_terminal() {
        return Ok(Wanted { kind: true, controller: true });
    }
    let kind = ask("Create Resource")?;
    Ok(Wanted { kind, controller: ask("Create Controller")? })
}

fn ask(question: &str) -> anyhow::Result<bool> {
    loop {
        let mut stderr = std::io::stderr();
        write!(stderr, "{question} [Y/n] ").and_then(|()| stderr.flush()).context("cannot ask")?;
        let mut answer = String::new();
        let length =
            std::io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
        anyhow::ensure!(length > 0, "no answer: say it with --resource and --controller");
        match answer.trim().to_ascii_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}
