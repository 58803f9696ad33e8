//! The image of an OLM bundle: its folders, and the labels that say so. Reads the folder and writes
//! the image; what is in a bundle is the operator's to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kubewright_testenv::images::{ImageSpec, Source};
use serde::Deserialize;

/// What of the folder goes into the image.
const FOLDERS: [&str; 3] = ["manifests", "metadata", "tests"];

#[derive(Deserialize)]
struct Annotations {
    annotations: BTreeMap<String, String>,
}

/// Writes the image of the bundle in `folder` to `out`.
pub(super) fn write(folder: &Path, image: &str, out: &Path) -> anyhow::Result<()> {
    let path = folder.join("metadata/annotations.yaml");
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!("{} is no bundle, {} cannot be read", folder.display(), path.display())
    })?;
    let Annotations { annotations } =
        serde_saphyr::from_str(&text).with_context(|| format!("cannot use {}", path.display()))?;
    let mut files = BTreeMap::new();
    for name in FOLDERS {
        let part = folder.join(name);
        if part.is_dir() {
            collect(&part, &Path::new("/").join(name), &mut files)
                .with_context(|| format!("cannot read {}", part.display()))?;
        }
    }
    let spec =
        ImageSpec { name: image.to_owned(), labels: annotations, files, ..ImageSpec::default() };
    spec.write(out)?;
    Ok(())
}

/// All files below `folder`, each with its path in the image.
fn collect(
    folder: &Path,
    place: &Path,
    files: &mut BTreeMap<PathBuf, Source>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, place) = (entry.path(), place.join(entry.file_name()));
        if path.is_dir() {
            collect(&path, &place, files)?;
        } else {
            files.insert(place, Source::HostFile(path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::archive::Archive;

    use super::*;

    #[test]
    fn a_bundle_carries_its_annotations_as_labels() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("metadata")).unwrap();
        let annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: a\n";
        std::fs::write(folder.path().join("metadata/annotations.yaml"), annotations).unwrap();
        let out = folder.path().join("image.tar");
        write(folder.path(), "example.com/a-bundle:v1", &out).unwrap();
        let archive = Archive::open(&out, "example.com/a-bundle:v1").unwrap();
        let configuration: serde_json::Value =
            serde_json::from_slice(&archive.configuration).unwrap();
        let labels = &configuration["config"]["Labels"];
        assert_eq!(labels["operators.operatorframework.io.bundle.package.v1"], "a");
    }

    #[test]
    fn a_folder_that_is_no_bundle_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path(), "a:1", &folder.path().join("out")).unwrap_err();
        assert!(error.to_string().contains("is no bundle"), "{error}");
    }
}
