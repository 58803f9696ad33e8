//! The verbs of `kubewright`: their definitions for the command line, and which code answers each.

mod deploy;
mod dev;
mod image;
mod operator;
mod undeploy;

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
    /// The operator's image: build it, push it, give it to the local Kubernetes
    #[command(subcommand)]
    Image(image::Image),
    /// Run the operator in the cluster of the current kubeconfig
    ///
    /// Applies everything that the operator says it needs, waits until it is available, and says why if
    /// it does not become so.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and an image that the cluster can get.
    #[command(after_help = "Example:\n  kubewright deploy --image example.com/operator:v1")]
    Deploy(deploy::Deploy),
    /// Take the operator out of that cluster, with its kinds and all their objects
    ///
    /// Says first how many objects go. The operator ends first, then nothing is left to wait for it.
    /// With --keep-crd the objects and what runs for them stay.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(after_help = "Example:\n  kubewright undeploy --keep-crd")]
    Undeploy(undeploy::Undeploy),
    /// Put the operator's kinds on the cluster of the current kubeconfig
    Install(operator::Passed),
    /// Take the operator's kinds off that cluster, with all objects of these kinds
    Uninstall(operator::Passed),
    /// Run the operator on this machine against that cluster
    Run(operator::Passed),
    /// Print or write what installing the operator takes
    Generate(operator::Passed),
}

impl Kubewright {
    /// Does what was asked for.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.verb {
            Verb::Dev(dev) => dev.run(),
            Verb::Image(image) => image.run(),
            Verb::Deploy(deploy) => deploy.run(),
            Verb::Undeploy(undeploy) => undeploy.run(),
            Verb::Install(passed) => passed.run("install"),
            Verb::Uninstall(passed) => passed.run("uninstall"),
            Verb::Run(passed) => passed.run("run"),
            Verb::Generate(passed) => passed.run("generate"),
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
