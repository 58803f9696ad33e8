//! What the programs that measure an operator share: building it as it ships, running it as a process,
//! what it asked of the API server, and figures beside their bars. What is measured is each program's.

pub mod bars;
pub mod durations;
pub mod peer;
pub mod process;
pub mod programs;
pub mod report;
pub mod requests;
pub mod results;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use bars::Bars;
use kubewright_testenv::images::BinaryImage;

/// Says what is going on.
pub fn progress(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// How a program that measures ends.
pub fn exit(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// The size of a file in MB.
pub fn megabytes(file: &Path) -> std::io::Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^52 bytes")]
    Ok(std::fs::metadata(file)?.len() as f64 / 1e6)
}

/// The size in MB of an image, as an archive, that has a program and nothing else in it.
pub fn image_megabytes(program: &Path) -> anyhow::Result<f64> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("image.tar");
    let image = BinaryImage {
        name: "example.com/memcached-operator:bench",
        binary: program,
        user: Some("65532:65532"),
        entrypoint: &["/manager"],
        labels: &[],
    };
    image.write(&file)?;
    Ok(megabytes(&file)?)
}

/// Prints the table, and fails if measuring did or if a bar was missed.
pub fn conclude(bars: &Bars, measured: anyhow::Result<()>) -> anyhow::Result<()> {
    write!(std::io::stdout(), "{bars}")?;
    measured?;
    let missed = bars.missed();
    anyhow::ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}
