//! `kubewright dev kubectl`: the local cluster's own kubectl, which is of its version and knows where it is.

use std::process::Command;

use clap::Args;

use super::observed;
use crate::project::become_command;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Kubectl {
    /// What kubectl is given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Kubectl {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let record = observed::present()?.record;
        let mut command = Command::new(record.kubectl);
        command.args(&self.arguments).env("KUBECONFIG", record.kubeconfig);
        Err(become_command(command))
    }
}
