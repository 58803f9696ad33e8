//! `kubewright image`: container images without Docker. Owns the definitions of its verbs for the
//! command line; what each does is in the file of its name.

mod binary;
mod build;
mod bundle;
mod engine;

use clap::{Args, Subcommand};

use super::dev;
use crate::archive::Archive;
use crate::output;
use crate::project::Project;
use crate::registry::{self, Reference};

/// Images of the operator and of its bundle.
#[derive(Debug, Subcommand)]
pub(super) enum Image {
    /// Build the operator's image: one static program, no shell, not root
    ///
    /// Builds the operator with profile `dist`, linked statically, and writes the image into a file
    /// under cargo's target folder. If a Docker or Podman engine runs here, it gets the image too;
    /// none is needed. With --bundle the image of an OLM bundle is written instead.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(after_help = "Example:\n  kubewright image build --image example.com/operator:v1")]
    Build(build::Build),
    /// Push an image that was built to a registry
    ///
    /// Speaks HTTPS, trusting whom this machine trusts, and plain HTTP to a registry on this machine.
    /// Uses the logins of `docker login` (~/.docker/config.json and its helper programs).
    ///
    /// Needs the image to be built: `kubewright image build`.
    #[command(after_help = "Example:\n  kubewright image push example.com/operator:v1")]
    Push(Push),
    /// Give an image that was built to all nodes of the local Kubernetes
    ///
    /// Needs root, `kubewright dev up` and the image to be built: `kubewright image build`.
    #[command(after_help = "Example:\n  kubewright image load example.com/operator:v1")]
    Load(Load),
}

#[derive(Debug, Args)]
pub(super) struct Push {
    /// The name of the image, which says where it goes
    image: Reference,
    /// Speak HTTP to a registry that is not on this machine: everybody on the way can read along
    #[arg(long)]
    plain_http: bool,
}

#[derive(Debug, Args)]
pub(super) struct Load {
    /// The name of the image
    image: String,
}

impl Image {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Build(build) => build.run(),
            Self::Push(push) => push.run(),
            Self::Load(load) => load.run(),
        }
    }
}

impl Push {
    fn run(&self) -> anyhow::Result<()> {
        let archive = Archive::built(&Project::find()?, &self.image.to_string())?;
        let digest = registry::push(&archive, &self.image, self.plain_http)?;
        let Reference { registry, repository, .. } = &self.image;
        output::write(format!("{} pushed\n  {registry}/{repository}@{digest}\n", self.image))
    }
}

impl Load {
    fn run(&self) -> anyhow::Result<()> {
        let archive = Archive::built(&Project::find()?, &self.image)?;
        dev::give(&archive.path().display().to_string())?;
        output::write(format!("{} is on all nodes\n", self.image))
    }
}
