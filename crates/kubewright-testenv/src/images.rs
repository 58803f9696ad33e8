//! The container images of a test cluster, as docker-archive tars in the cache: no registry and no
//! Docker needed.
//!
//! Owns names, cache keys and the check of versions. What is in an image is `recipes`', where files
//! come from `debian`'s, how they are written `archive`'s, and importing the tars is the node's.

mod archive;
mod debian;
mod elf;
mod recipes;
mod static_binary;

use std::io;
use std::path::{Path, PathBuf};

pub use archive::{ArchiveError, ImageSpec, Source};
pub use debian::DebianError;
pub use static_binary::BinaryImage;

use crate::cache::{Cache, CacheError, Entry};
use crate::progress::Progress;

/// The versions of memcached that tests use; each is in a Debian suite.
pub const MEMCACHED_VERSIONS: [&str; 3] = ["1.6.45", "1.6.38", "1.6.18"];

/// The image that holds a pod's namespaces.
pub const PAUSE_IMAGE: &str = "localhost/kubewright/pause:1";

/// The image of CoreDNS `version`.
pub fn coredns_image(version: &str) -> String {
    format!("localhost/kubewright/coredns:{version}")
}

/// The image of metrics-server `version`.
pub fn metrics_server_image(version: &str) -> String {
    format!("localhost/kubewright/metrics-server:{version}")
}

/// The image of the Operator Lifecycle Manager `version`.
pub fn olm_image(version: &str) -> String {
    format!("localhost/kubewright/olm:{version}")
}

/// The image of opm `version`.
pub fn opm_image(version: &str) -> String {
    format!("localhost/kubewright/opm:{version}")
}

/// The image of the registry `version`.
pub fn registry_image(version: &str) -> String {
    format!("localhost/kubewright/registry:{version}")
}

/// Part of every cache key: to be raised when what is put into an image changes.
const RECIPE: u32 = 1;

/// Why an image could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The cache said no.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The version cannot be part of an image's name.
    #[error("cannot make an image of {program} {version:?}: not a version")]
    Version {
        /// What the image is of.
        program: &'static str,
        /// What was given as its version.
        version: String,
    },
    /// The program could not be had.
    #[error("cannot make the image {image} from Debian packages")]
    Debian {
        /// The name of the image.
        image: String,
        /// What went wrong.
        #[source]
        source: DebianError,
    },
    /// The package holds another version than it says.
    #[error("cannot make the image {image}: the program says that it is {said:?}")]
    OtherVersion {
        /// The name of the image.
        image: String,
        /// What the program said.
        said: String,
    },
    /// The program needs libraries that the image would not have.
    #[error(
        "cannot make an image of {}: it is not linked statically but needs {}",
        binary.display(),
        loader.display()
    )]
    NotStatic {
        /// The program.
        binary: PathBuf,
        /// The loader that it asks for.
        loader: PathBuf,
    },
    /// The program cannot be read, or is none.
    #[error("cannot make an image of {}", binary.display())]
    Binary {
        /// The program.
        binary: PathBuf,
        /// What is wrong.
        #[source]
        source: io::Error,
    },
    /// The image could not be written.
    #[error("cannot write the image {image}")]
    Archive {
        /// The name of the image.
        image: String,
        /// What went wrong.
        #[source]
        source: ArchiveError,
    },
}

/// Makes images and keeps them in a cache.
#[derive(Clone, Debug)]
pub struct Images {
    cache: Cache,
    progress: Progress,
}

impl Images {
    /// The images in `cache`.
    pub fn new(cache: Cache, progress: Progress) -> Self {
        Self { cache, progress }
    }

    /// Why the images of a node cannot be made here; none if they can, or are all in the cache.
    pub fn obstacle(&self) -> Option<String> {
        if from_debian().all(|key| self.entry(&key).is_intact()) {
            return None;
        }
        debian::Debian::of_this_machine().err().map(|error| crate::chain(&error))
    }

    /// `docker.io/library/memcached:VERSION`: takes `args` and `command` as the official image does,
    /// runs as its user, and has a shell.
    pub fn memcached(&self, version: &str) -> Result<PathBuf, ImageError> {
        check_version("memcached", version)?;
        let name = format!("docker.io/library/memcached:{version}");
        self.ensure(&name, &format!("memcached-{version}"), |out| {
            recipes::memcached(&name, version, out)
        })
    }

    /// [`PAUSE_IMAGE`]: what holds a pod's namespaces and reaps its orphans.
    pub fn pause(&self) -> Result<PathBuf, ImageError> {
        self.ensure(PAUSE_IMAGE, "pause-1", |out| recipes::pause(PAUSE_IMAGE, out))
    }

    /// [`coredns_image`] from a static binary of that version.
    pub fn coredns(&self, binary: &Path, version: &str) -> Result<PathBuf, ImageError> {
        check_version("coredns", version)?;
        let name = &coredns_image(version);
        let image =
            BinaryImage { name, binary, user: None, entrypoint: &["/coredns"], labels: &[] };
        self.ensure(name, &format!("coredns-{version}"), |out| image.write(out))
    }

    /// [`metrics_server_image`] from a static binary of that version.
    pub fn metrics_server(&self, binary: &Path, version: &str) -> Result<PathBuf, ImageError> {
        check_version("metrics-server", version)?;
        let name = &metrics_server_image(version);
        let (user, entrypoint) = (Some("65534:65534"), &["/metrics-server"]);
        let image = BinaryImage { name, binary, user, entrypoint, labels: &[] };
        self.ensure(name, &format!("metrics-server-{version}"), |out| image.write(out))
    }

    /// [`olm_image`] from static binaries of that version, and a shell's tools: OLM copies with `/bin/cp`.
    pub fn olm(&self, binaries: &[PathBuf], version: &str) -> Result<PathBuf, ImageError> {
        check_version("olm", version)?;
        let name = &olm_image(version);
        self.ensure(name, &format!("olm-{version}"), |out| {
            recipes::programs(name, binaries, true, out)
        })
    }

    /// [`opm_image`] from static binaries of that version.
    pub fn opm(&self, binaries: &[PathBuf], version: &str) -> Result<PathBuf, ImageError> {
        check_version("opm", version)?;
        let name = &opm_image(version);
        self.ensure(name, &format!("opm-{version}"), |out| {
            recipes::programs(name, binaries, false, out)
        })
    }

    /// [`registry_image`] from a static binary of that version.
    pub fn registry(&self, binary: &Path, version: &str) -> Result<PathBuf, ImageError> {
        check_version("registry", version)?;
        let name = &registry_image(version);
        let (user, entrypoint) = (Some("65534:65534"), &["/registry"]);
        let image = BinaryImage { name, binary, user, entrypoint, labels: &[] };
        self.ensure(name, &format!("registry-{version}"), |out| image.write(out))
    }

    /// Removes from the cache whatever is damaged, checked byte for byte, and says what that was.
    pub fn remove_damaged(&self, coredns: &str) -> Result<Vec<String>, ImageError> {
        let mut removed = Vec::new();
        for key in from_debian().chain([format!("coredns-{coredns}")]) {
            let entry = self.entry(&key);
            if entry.path().exists() && !entry.is_intact_to_the_byte() {
                entry.remove()?;
                removed.push(key);
            }
        }
        Ok(removed)
    }

    fn ensure(
        &self,
        name: &str,
        key: &str,
        make: impl FnOnce(&Path) -> Result<(), ImageError>,
    ) -> Result<PathBuf, ImageError> {
        self.entry(key).ensure(self.progress, |out| {
            self.progress.step(&format!("making the image {name}"), || make(out))
        })?
    }

    fn entry(&self, key: &str) -> Entry {
        let key = format!("images/linux-{}/{key}-r{RECIPE}.tar", archive::architecture());
        self.cache.entry(&key)
    }
}

/// The keys of the images that are made from Debian's packages.
fn from_debian() -> impl Iterator<Item = String> {
    let memcached = MEMCACHED_VERSIONS.iter().map(|version| format!("memcached-{version}"));
    memcached.chain(["pause-1".to_owned()])
}

/// The version becomes a part of a file name and of an image's name.
fn check_version(program: &'static str, version: &str) -> Result<(), ImageError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if version.starts_with(|first: char| first.is_ascii_alphanumeric())
        && version.bytes().all(is_allowed)
    {
        return Ok(());
    }
    Err(ImageError::Version { program, version: version.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_would_leave_the_cache_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let images = Images::new(Cache::at(directory.path()), Progress::Silent);
        for version in ["", "../../x", "1.6 45", "-r1", "1:6"] {
            let error = images.memcached(version).unwrap_err();
            assert!(matches!(error, ImageError::Version { .. }), "{version:?}: {error:?}");
        }
    }
}
