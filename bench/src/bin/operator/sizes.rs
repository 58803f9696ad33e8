//! How large the program and its image are.

use std::path::Path;

use kubewright_bench::bars::Bars;
use kubewright_bench::megabytes;
use kubewright_testenv::images::BinaryImage;

/// In MB.
const BINARY: f64 = 10.0;
const IMAGE: f64 = 11.0;

pub(crate) fn measure(program: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    bars.at_most("binary, static", megabytes(program)?, BINARY, "MB");
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
    bars.at_most("image, as an archive", megabytes(&file)?, IMAGE, "MB");
    Ok(())
}
