//! `kubewright test`: the project's tests, after what they need has been got. What they can run on is
//! said first, so that nobody takes tests that were left out for tests that passed.

use std::io::Write as _;

use clap::Args;
use kubewright_testenv::binaries::Binary;
use kubewright_testenv::preflight::Tier;
use kubewright_testenv::progress::Progress;

use crate::project::{Project, become_command};
use crate::style::Paint;
use crate::tiers::{self, Verdict};

#[derive(Debug, Args)]
pub(super) struct Test {
    /// What `cargo test` is given
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CARGO-TEST-ARGUMENTS"
    )]
    arguments: Vec<String>,
}

impl Test {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let verdicts = tiers::verdicts();
        // Not on standard output, which is the tests' own.
        let told = tiers::lines(&verdicts, Paint::stderr());
        let _ = std::io::stderr().lock().write_all(told.as_bytes());
        tiers::demand_all_if_asked(&verdicts)?;
        if verdicts.iter().any(is_control_plane) {
            provide()?;
        }
        let mut command = project.cargo();
        command.arg("test").args(&self.arguments);
        Err(become_command(command))
    }
}

fn is_control_plane(verdict: &Verdict) -> bool {
    verdict.tier == Tier::ControlPlane && verdict.can_run()
}

/// Gets the programs of a control plane. Tests would do so too, but with a deadline each, and with
/// nobody to see what takes so long. What nodes need besides is got by tests that have nodes.
fn provide() -> anyhow::Result<()> {
    let binaries = tiers::binaries(Progress::Shown)?;
    for binary in Binary::CONTROL_PLANE.into_iter().chain(Binary::CONTROLLERS) {
        binaries.find(binary)?;
    }
    Ok(())
}
