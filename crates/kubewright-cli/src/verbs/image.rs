//! `kubewright image`: container images without Docker. Owns the definitions of its verbs for the
//! command line; what each does is in the file of its name.

mod binary;
mod build;
mod bundle;
mod engine;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::dev;
use crate::archive::Archive;
use crate::output::{self, Format};
use crate::project::Project;
use crate::registry::{self, Reference};

/// Images of the operator and of its bundle.
#[derive(Debug, Subcommand)]
pub(super) enum Image {
    /// Build the operator's image: one static program, no shell, not root
    ///
    /// Builds the operator with profile `dist`, linked statically, and writes the image into a file
    /// under cargo's target folder. If a Docker or Podman engine runs here, it gets the image too;
    /// none is needed. With --load the nodes of the local Kubernetes get it too. With --bundle the image of
    /// an OLM bundle is written instead.
    ///
    /// Profile `dist` is the project's own, if its Cargo.toml has one, else small: size before speed, link-time
    /// optimisation, no symbols. Without --image it is called as kubewright.toml says, with the version of the
    /// package as its tag. With `-o json` the keys are `name`, `id`, `file` and `bytes`.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(
        after_help = "Example:\n  kubewright image build --load\n  kubewright image build --image example.com/operator:v1"
    )]
    Build(build::Build),
    /// Push an image that was built to a registry
    ///
    /// Speaks HTTPS, trusting whom this machine trusts, and plain HTTP to a registry on this machine.
    /// Uses the logins of `docker login` (~/.docker/config.json and its helper programs).
    ///
    /// Needs the image to be built: `kubewright image build`.
    #[command(
        after_help = "Example:\n  kubewright image push\n  kubewright image push example.com/operator:v1"
    )]
    Push(Push),
    /// Give an image that was built to all nodes of the local Kubernetes
    ///
    /// Needs root, `kubewright dev up` and the image to be built: `kubewright image build`.
    #[command(
        after_help = "Example:\n  kubewright image load\n  kubewright image load example.com/operator:v1"
    )]
    Load(Load),
}

#[derive(Debug, Args)]
pub(super) struct Push {
    /// The name of the image, which says where it goes [default: the project's]
    image: Option<Reference>,
    /// Speak HTTP to a registry that is not on this machine: everybody on the way can read along
    #[arg(long)]
    plain_http: bool,
}

#[derive(Debug, Args)]
pub(super) struct Load {
    /// The name of the image [default: the project's]
    image: Option<Reference>,
}

/// Builds the operator's image and calls it `image`.
pub(super) fn build(image: Reference) -> anyhow::Result<()> {
    build::Build::of(image).run()
}

/// Builds the image of the bundle in `folder`.
pub(super) fn build_bundle(
    folder: PathBuf,
    image: Option<Reference>,
    format: Format,
) -> anyhow::Result<()> {
    build::Build::of_bundle(folder, image, format).run()
}

/// Pushes the image of a bundle; without a name, the project's with `-bundle`.
pub(super) fn push_bundle(image: Option<Reference>, plain_http: bool) -> anyhow::Result<()> {
    let image = match image {
        Some(image) => image,
        None => Project::find()?.bundle_image_or(None)?,
    };
    Push { image: Some(image), plain_http }.run()
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
    fn run(self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let image = project.image_or(self.image)?;
        let archive = Archive::built(&project, &image.to_string())?;
        let digest = registry::push(&archive, &image, self.plain_http)?;
        let Reference { registry, repository, .. } = &image;
        output::write(format!("{image} pushed\n  {registry}/{repository}@{digest}\n"))
    }
}

impl Load {
    fn run(self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let image = project.image_or(self.image)?;
        let archive = Archive::built(&project, &image.to_string())?;
        dev::give(&archive.path().display().to_string())?;
        output::write(format!("{image} is on all nodes\n"))
    }
}
