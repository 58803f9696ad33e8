//! The operator as an image: a static program, built as people build it, or as another version of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::programs::without_cargos_own;

/// What makes a build quick, for images that are to run and need not be small.
pub const QUICK: [(&str, &str); 3] = [
    ("CARGO_PROFILE_DIST_LTO", "off"),
    ("CARGO_PROFILE_DIST_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DIST_CODEGEN_UNITS", "16"),
];

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

    /// The image as a tar: from the folder that `MEMCACHED_E2E_IMAGES` names, else by `kubewright image
    /// build`, which takes minutes the first time and seconds afterwards.
    pub fn tar(self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = std::env::var_os("MEMCACHED_E2E_IMAGES") {
            let name = if self == Self::Shipped { "shipped.tar" } else { "other.tar" };
            return Ok(Path::new(&folder).join(name));
        }
        let folder = self.folder();
        let tar = folder.join("memcached-operator.tar");
        std::fs::create_dir_all(&folder).context("there is no place for the image")?;
        let mut kubewright =
            Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        without_cargos_own(&mut kubewright);
        kubewright
            .args(["run", "--quiet", "--package", "kubewright-cli", "--target-dir"])
            .arg(target()) // of this program; what it builds may go elsewhere
            .args(["--", "image", "build", "--image", self.name(), "--file"])
            .arg(&tar)
            .current_dir(workspace());
        if self == Self::Other {
            kubewright.env("VERSION", "99.0.0").env("CARGO_TARGET_DIR", folder).envs(QUICK);
        }
        let status = kubewright.stdout(Stdio::null()).status().context("cannot run cargo")?;
        ensure!(status.success(), "the operator's image {} cannot be built", self.name());
        Ok(tar)
    }

    /// Apart, or each build would undo the other's.
    fn folder(self) -> PathBuf {
        target().join(if self == Self::Shipped { "e2e" } else { "e2e-other" })
    }
}

/// Where cargo puts what it builds here.
fn target() -> PathBuf {
    let own = workspace().join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or(own, |folder| workspace().join(folder))
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
