//! Builds the images that the tests need, before any test waits for them.

use memcached_e2e::image::Build;

fn main() -> anyhow::Result<()> {
    for build in [Build::Shipped, Build::Other] {
        build.tar()?;
    }
    Ok(())
}
