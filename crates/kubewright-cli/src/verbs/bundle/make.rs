//! `kubewright bundle`: has the operator write its bundle, and checks what it wrote.

use std::path::PathBuf;

use clap::Args;

use super::validate;
use crate::output;
use crate::project::Project;

#[derive(Debug, Args)]
pub(super) struct Make {
    /// The version of the release
    #[arg(long, default_value = "0.0.1")]
    version: String,
    /// The channels that it is published in, with commas between them
    #[arg(long, default_value = "alpha")]
    channels: String,
    /// The channel of whoever asks for none [default: the first]
    #[arg(long, value_name = "CHANNEL")]
    default_channel: Option<String>,
    /// The operator's image [default: that of kubewright.toml, with `v` and the version as its tag]
    #[arg(long)]
    image: Option<String>,
    /// The folder of the bundle
    #[arg(long, default_value = "bundle", value_name = "FOLDER")]
    output: PathBuf,
}

impl Make {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let folder = project.root().join(&self.output);
        let said = project.ask(&self.arguments())?;
        output::write(said)?;
        validate::after_writing(folder.strip_prefix(std::env::current_dir()?).unwrap_or(&folder))
    }

    /// The operator's own verb, with what was asked for.
    fn arguments(&self) -> Vec<String> {
        let Self { version, channels, default_channel, image, output } = self;
        let output = output.display().to_string();
        let given = [
            ("--output", Some(&output)),
            ("--version", Some(version)),
            ("--channels", Some(channels)),
            ("--default-channel", default_channel.as_ref()),
            ("--image", image.as_ref()),
        ];
        let given =
            given.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?.clone()]));
        ["generate", "bundle"].map(str::to_owned).into_iter().chain(given.flatten()).collect()
    }
}
