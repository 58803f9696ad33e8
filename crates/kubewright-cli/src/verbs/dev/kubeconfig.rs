//! `kubewright dev kubeconfig`: where the kubeconfig is, or what is in it.

use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use clap::Args;

use super::observed;
use crate::output;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Kubeconfig {
    /// Print the file itself instead of its path
    #[arg(long)]
    content: bool,
}

impl Kubeconfig {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let path = observed::present()?.record.kubeconfig;
        if self.content {
            let content = std::fs::read(&path);
            return output::write(
                content.with_context(|| format!("cannot read {}", path.display()))?,
            );
        }
        output::write([path.as_os_str().as_bytes(), b"\n"].concat())
    }
}
