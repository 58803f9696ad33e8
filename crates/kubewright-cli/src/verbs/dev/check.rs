//! `kubewright dev check`: tells which tiers this machine can run.
//!
//! `make test` runs it first and last: what is left out must be seen, and where
//! `KUBEWRIGHT_ALL_TIERS` is set nothing may be.

use crate::style::Paint;
use crate::{output, tiers};

pub(super) fn run() -> anyhow::Result<()> {
    let verdicts = tiers::verdicts();
    output::write(tiers::lines(&verdicts, Paint::stdout()))?;
    tiers::demand_all_if_asked(&verdicts)
}
