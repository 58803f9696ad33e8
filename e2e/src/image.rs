//! The operator as an image: a static binary, built as it ships, or as another version of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use kubewright_testenv::images::BinaryImage;

/// Which build of the operator is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// As it ships.
    Shipped,
    /// Another one, compiled apart, that calls itself by another version.
    Other,
}

impl Build {
    /// The name of the image.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shipped => "localhost/memcached-operator:e2e",
            Self::Other => "localhost/memcached-operator:other",
        }
    }

    fn profile(self) -> &'static str {
        match self {
            Self::Shipped => "dist",
            Self::Other => "dev",
        }
    }

    /// The image as a tar; built where it is not there already, which takes minutes the first time.
    pub fn tar(self) -> anyhow::Result<PathBuf> {
        let binary = self.binary()?;
        let tar = binary.with_file_name(format!("memcached-operator-{}.tar", self.profile()));
        let image = BinaryImage {
            name: self.name(),
            binary: &binary,
            user: Some("65532:65532"),
            entrypoint: &["/memcached-operator"],
            labels: &[],
        };
        image.write(&tar).context("cannot write the operator's image")?;
        Ok(tar)
    }

    /// The static program.
    pub fn binary(self) -> anyhow::Result<PathBuf> {
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["build", "--quiet", "--package", "memcached-operator", "--target", &target])
            .args(["--profile", self.profile()])
            .current_dir(workspace());
        if self == Self::Other {
            cargo.env("VERSION", "99.0.0").env("CARGO_PROFILE_DEV_STRIP", "true");
        }
        let status = cargo.status().context("cannot run cargo")?;
        ensure!(status.success(), "the operator could not be built for {target}");
        let folder = if self == Self::Other { "debug" } else { "dist" };
        Ok(target_folder().join(target).join(folder).join("memcached-operator"))
    }
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn target_folder() -> PathBuf {
    let own = workspace().join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or(own, |folder| workspace().join(folder))
}
