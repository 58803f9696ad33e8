//! Builds the images that the tests need, before any test waits for them.

use memcached_e2e::image::Build;
use memcached_e2e::metrics;

fn main() -> anyhow::Result<()> {
    for build in [Build::Shipped, Build::Other] {
        build.tar()?;
    }
    metrics::image()?;
    Ok(())
}
