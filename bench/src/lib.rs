//! What the programs that measure an operator share: building it as it ships, running it as a process,
//! what it asked of the API server, and figures beside their bars. What is measured is each program's.

pub mod bars;
pub mod durations;
pub mod process;
pub mod programs;
pub mod requests;

use std::io::Write as _;
use std::path::Path;

use bars::Bars;

/// Says what is going on.
pub fn progress(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The size of a file in MB.
pub fn megabytes(file: &Path) -> std::io::Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^52 bytes")]
    Ok(std::fs::metadata(file)?.len() as f64 / 1e6)
}

/// Prints the table, and fails if measuring did or if a bar was missed.
pub fn conclude(bars: &Bars, measured: anyhow::Result<()>) -> anyhow::Result<()> {
    write!(std::io::stdout(), "{bars}")?;
    measured?;
    let missed = bars.missed();
    anyhow::ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}
