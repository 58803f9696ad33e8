//! `kubewright build`: the operator's program, or with the name of an image that image, which is what
//! `operator-sdk build` does.

use clap::Args;

use super::image;
use crate::project::{Project, become_command};
use crate::registry::Reference;

#[derive(Debug, Args)]
pub(super) struct Build {
    /// The name of an image, such as example.com/operator:v1, to be built of the program
    image: Option<Reference>,
}

impl Build {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if let Some(image) = self.image {
            return image::build(image);
        }
        let project = Project::find()?;
        let mut command = project.cargo();
        command.args(["build", "--release", "--package", &project.name]);
        Err(become_command(command))
    }
}
