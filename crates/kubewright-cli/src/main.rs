//! The program `kubewright`. Owns the edge: parses, runs the verb, prints an error once with its
//! causes, turns the outcome into an exit code. What a verb does is in `verbs`.

mod archive;
mod bundle;
mod cluster;
mod olm;
mod output;
mod project;
mod registry;
mod scaffold;
mod style;
mod table;
mod tiers;
mod verbs;

use std::io::Write as _;
use std::process::ExitCode;

use kubewright::chain;
use style::Paint;

fn main() -> ExitCode {
    let Err(error) = verbs::Kubewright::from_command_line().run() else {
        return ExitCode::SUCCESS;
    };
    if error.is::<output::Closed>() {
        return ExitCode::SUCCESS; // the reader has seen enough, as `head` does
    }
    match error.downcast::<clap::Error>() {
        Ok(usage) => usage.exit(),
        Err(error) => {
            let word = Paint::stderr().wrong("error:");
            // With standard error closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr().lock(), "{word} {}", chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}
