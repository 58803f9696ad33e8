//! `kubewright cleanup`: a package that `run bundle` installed, off the cluster. What goes, and in which order, is
//! `olm::removal`'s.

use clap::Args;

use super::ignored::CleanupFlags;
use super::olm::Limit;
use crate::cluster::Cluster;
use crate::olm::interrupt::unless_interrupted;
use crate::olm::removal::package::Package;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct Cleanup {
    /// The package, as the bundle names it
    package: String,
    /// The namespace that it was installed in [default: the kubeconfig's]
    #[arg(short, long)]
    namespace: Option<String>,
    /// Leave its kinds and all their objects
    #[arg(long)]
    keep_crd: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    ignored: CleanupFlags,
}

impl Cleanup {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        self.ignored.say();
        self.cluster.connected(async |client| {
            let namespace = self.namespace.as_deref().unwrap_or(client.default_namespace());
            let name = self.package.as_str();
            let package = Package {
                client: &client,
                name,
                namespace,
                keep_definitions: self.keep_crd || self.ignored.keeps_definitions(),
                limit: self.limit.timeout,
            };
            let way_out = "the rest is still there, and the same command removes it";
            let found = unless_interrupted(way_out, package.remove()).await?;
            output::write(if found {
                format!("{name} is gone from namespace {namespace}\n")
            } else {
                format!("there is nothing of {name} in namespace {namespace}\n")
            })
        })
    }
}
