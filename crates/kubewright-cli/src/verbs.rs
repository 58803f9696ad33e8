//! The verbs of `kubewright`: their definitions for the command line, and which code answers each.

mod dev;

use clap::{Parser, Subcommand};

/// Write Kubernetes operators in Rust, and have a real Kubernetes to try them on.
#[derive(Debug, Parser)]
#[command(name = "kubewright", version, max_term_width = 100)]
pub(crate) struct Kubewright {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// A real Kubernetes on this machine: no Docker, no cluster, no steps by hand
    #[command(subcommand)]
    Dev(dev::Dev),
}

impl Kubewright {
    /// Does what was asked for.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.verb {
            Verb::Dev(dev) => dev.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_defined() {
        Kubewright::command().debug_assert();
    }
}
