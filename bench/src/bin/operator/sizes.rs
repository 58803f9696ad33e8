//! How large the program and its image are.

use std::path::Path;

use kubewright_bench::bars::Bars;
use kubewright_bench::{image_megabytes, megabytes};

/// In MB.
const BINARY: f64 = 10.0;
const IMAGE: f64 = 11.0;

pub(crate) fn measure(program: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    bars.at_most("binary, static", megabytes(program)?, BINARY, "MB");
    bars.at_most("image, as an archive", image_megabytes(program)?, IMAGE, "MB");
    Ok(())
}
