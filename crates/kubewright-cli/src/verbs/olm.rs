//! `kubewright olm`: the Operator Lifecycle Manager itself. Owns the definitions of its verbs for the command line;
//! what each does is in the file of its name.

mod install;
mod limit;
mod status;
mod uninstall;

use clap::Subcommand;

pub(super) use limit::Limit;

/// The Operator Lifecycle Manager on a cluster.
#[derive(Debug, Subcommand)]
pub(super) enum Olm {
    /// Put it on the cluster of the current kubeconfig, and wait until it runs
    ///
    /// Applies the manifests of its release, or of --manifests. With --local it is built from source and its images
    /// are given to the nodes of `kubewright dev`, which reach no registry: minutes the first time. Again, it
    /// repairs what is missing.
    ///
    /// Needs the rights of a cluster administrator.
    #[command(
        after_help = "Example:\n  kubewright olm install\n  sudo kubewright olm install --local"
    )]
    Install(install::Install),
    /// Tell how it is, and what was installed through it
    ///
    /// Exits with 0 if all its parts are ready, else with 1. With `-o json` the keys are `version` (null if somebody
    /// else installed it), `components` (each with `name`, `namespace`, `ready` and `wanted`) and `operators`
    /// (each with `package`, `namespace`, `release` and `phase`).
    #[command(after_help = "Example:\n  kubewright olm status\n  kubewright olm status -o json")]
    Status(status::Status),
    /// Take it off again, with its kinds
    ///
    /// Only what `kubewright olm install` put there, and only if nothing is installed through it any more, unless
    /// --force says so.
    #[command(after_help = "Example:\n  kubewright olm uninstall")]
    Uninstall(uninstall::Uninstall),
}

impl Olm {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Install(install) => install.run(),
            Self::Status(status) => status.run(),
            Self::Uninstall(uninstall) => uninstall.run(),
        }
    }
}
