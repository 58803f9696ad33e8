//! Builds the images and finds the programs that the tests need, before any test waits for them.

use kubewright_testenv::Helm;
use memcached_e2e::image::Build;
use memcached_e2e::metrics;

fn main() -> anyhow::Result<()> {
    for build in [Build::Shipped, Build::Other] {
        build.tar()?;
    }
    metrics::image()?;
    Helm::find()?;
    Ok(())
}
