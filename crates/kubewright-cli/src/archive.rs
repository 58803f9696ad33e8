//! Built images, as docker-archive tars under cargo's target folder: where one is, and what is in it.
//! Reads; writing them is the library's.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use kubewright_testenv::cache::hex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::project::Project;

/// An image of one layer in a file.
#[derive(Debug)]
pub(crate) struct Archive {
    path: PathBuf,
    /// The image's configuration.
    pub(crate) configuration: Vec<u8>,
    layer: String,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "Config")]
    configuration: String,
    #[serde(rename = "RepoTags")]
    names: Vec<String>,
    #[serde(rename = "Layers")]
    layers: Vec<String>,
}

/// Where the image called `image` is, or is to be written.
pub(crate) fn place(project: &Project, image: &str) -> anyhow::Result<PathBuf> {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() || ".-".contains(one) { one } else { '_' };
    let name: String = image.chars().map(plain).collect();
    Ok(project.target()?.join("kubewright/images").join(format!("{name}.tar")))
}

impl Archive {
    /// The image called `image`, which was built before.
    pub(crate) fn built(project: &Project, image: &str) -> anyhow::Result<Self> {
        let path = place(project, image)?;
        anyhow::ensure!(
            path.exists(),
            "no image {image} was built: run `kubewright image build --image {image}` first"
        );
        Self::open(&path, image)
    }

    /// The image in the file `path`, which must be called `image`.
    pub(crate) fn open(path: &Path, image: &str) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read the image {}", path.display());
        let small = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
        let mut files = BTreeMap::new();
        let mut tar = tar::Archive::new(File::open(path).with_context(cannot)?);
        for entry in tar.entries().with_context(cannot)? {
            let mut entry = entry.with_context(cannot)?;
            let name = entry.path().with_context(cannot)?.into_owned();
            if small(&name) {
                let mut content = Vec::new();
                entry.read_to_end(&mut content).with_context(cannot)?;
                files.insert(name, content);
            }
        }
        let manifest = files.get(Path::new("manifest.json")).with_context(cannot)?;
        let [entry]: [Entry; 1] = serde_json::from_slice(manifest).with_context(cannot)?;
        anyhow::ensure!(
            entry.names == [image],
            "{} holds {}, not {image}: build it again",
            path.display(),
            entry.names.join(", ")
        );
        let [layer] = <[String; 1]>::try_from(entry.layers)
            .map_err(|layers| anyhow::anyhow!("{} layers, not one", layers.len()))
            .with_context(cannot)?;
        let configuration = files.remove(Path::new(&entry.configuration)).with_context(cannot)?;
        Ok(Self { path: path.to_owned(), configuration, layer })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What containerd and Docker call the image's id.
    pub(crate) fn id(&self) -> String {
        digest(&self.configuration)
    }

    /// Writes the layer, compressed, to `out`; the same layer gives the same bytes.
    pub(crate) fn compress_layer(&self, out: &mut impl Write) -> io::Result<()> {
        let mut tar = tar::Archive::new(File::open(&self.path)?);
        for entry in tar.entries()? {
            let mut entry = entry?;
            if entry.path()?.as_os_str() == self.layer.as_str() {
                let mut compressed = GzBuilder::new().write(out, Compression::default());
                io::copy(&mut entry, &mut compressed)?;
                compressed.finish()?;
                return Ok(());
            }
        }
        Err(io::Error::other("the layer is missing"))
    }
}

/// `sha256:…`
pub(crate) fn digest(content: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

/// `9.8 MB`
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

#[cfg(test)]
mod tests {
    use kubewright_testenv::images::{ImageSpec, Source};

    use super::*;

    fn written(directory: &Path) -> PathBuf {
        let content = Source::Inline { content: b"hello".to_vec(), mode: 0o644 };
        let spec = ImageSpec {
            name: "example.com/a:1".to_owned(),
            files: BTreeMap::from([("/a".into(), content)]),
            ..ImageSpec::default()
        };
        let path = directory.join("a.tar");
        spec.write(&path).unwrap();
        path
    }

    #[test]
    fn the_compressed_layer_is_the_one_that_the_configuration_names() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(&written(directory.path()), "example.com/a:1").unwrap();
        let mut compressed = Vec::new();
        archive.compress_layer(&mut compressed).unwrap();
        let mut layer = Vec::new();
        flate2::read::GzDecoder::new(compressed.as_slice()).read_to_end(&mut layer).unwrap();
        let configuration: serde_json::Value =
            serde_json::from_slice(&archive.configuration).unwrap();
        assert_eq!(configuration["rootfs"]["diff_ids"][0], digest(&layer));
    }

    #[test]
    fn an_archive_of_another_image_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = Archive::open(&written(directory.path()), "example.com/a:2").unwrap_err();
        assert!(error.to_string().contains("holds example.com/a:1, not"), "{error}");
    }

    #[test]
    fn sizes_read_like_a_person_says_them() {
        assert_eq!([megabytes(0), megabytes(9_876_543)], ["0.0 MB", "9.8 MB"]);
    }
}
