//! `kubewright completion`: a script that makes a shell complete verbs and flags.

use clap::Args;
use clap_complete::Shell;

use super::Kubewright;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct Completion {
    /// Which shell
    shell: Shell,
}

impl Completion {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut Kubewright::definition(),
            "kubewright",
            &mut script,
        );
        output::write(script)
    }
}
