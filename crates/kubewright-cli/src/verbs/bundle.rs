//! `kubewright bundle`: a release for the Operator Lifecycle Manager. Owns the definitions of its verbs for
//! the command line; what each does is in the file of its name.

mod make;
mod validate;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::image;
use crate::output::Format;
use crate::registry::Reference;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Bundle {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    make: make::Make,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say what is wrong with a bundle, and what to do
    ///
    /// Knows the rules of the Operator Framework's validators and of `OperatorHub`. Errors are what cannot be
    /// installed or is not taken by a catalogue, and make the exit code 1; warnings are what will be regretted.
    ///
    /// With `-o json` the keys are `errors` and `warnings` (their numbers) and `findings`, each with `id`,
    /// `severity`, `file`, `wrong` and `remedy`. Needs nothing but the folder, or the registry that the image is in.
    #[command(
        after_help = "Example:\n  kubewright bundle validate\n  kubewright bundle validate bundle -o json"
    )]
    Validate(validate::Validate),
    /// Build the bundle's image: its files and nothing else
    ///
    /// A bundle with errors is not built. Without --image it is called as the project's image with `-bundle`,
    /// and the version of the package as its tag. With `-o json` the keys are `name`, `id`, `file` and `bytes`.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and no Docker.
    #[command(
        after_help = "Example:\n  kubewright bundle build\n  kubewright bundle build --image example.com/operator-bundle:v0.0.1"
    )]
    Build(Build),
    /// Push the bundle's image to a registry
    ///
    /// As `kubewright image push` does. Needs the image to be built: `kubewright bundle build`.
    #[command(
        after_help = "Example:\n  kubewright bundle push\n  kubewright bundle push example.com/operator-bundle:v0.0.1"
    )]
    Push(Push),
}

#[derive(Debug, Args)]
struct Build {
    /// The folder of the bundle
    #[arg(default_value = "bundle", value_name = "FOLDER")]
    folder: PathBuf,
    /// The name of the image [default: the project's with `-bundle`]
    #[arg(long, value_name = "IMAGE")]
    image: Option<Reference>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct Push {
    /// The name of the image, which says where it goes [default: the project's with `-bundle`]
    image: Option<Reference>,
    /// Speak HTTP to a registry that is not on this machine: everybody on the way can read along
    #[arg(long)]
    plain_http: bool,
}

impl Bundle {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.verb {
            None => self.make.run(),
            Some(Verb::Validate(validate)) => validate.run(),
            Some(Verb::Build(Build { folder, image, format })) => {
                validate::before_building(&folder)?;
                image::build_bundle(folder, image, format)
            }
            Some(Verb::Push(Push { image, plain_http })) => image::push_bundle(image, plain_http),
        }
    }
}
