//! The files of a bundle's folder. Reads them all and judges none.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

use super::Bundle;

/// What of a folder is a bundle; what else lies there is nobody's concern.
const PARTS: [&str; 3] = ["manifests", "metadata", "tests"];

/// The bundle in `folder`.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Bundle> {
    let cannot = || format!("cannot read the bundle {}", folder.display());
    anyhow::ensure!(
        folder.is_dir(),
        "there is no folder {}: `kubewright bundle` makes one",
        folder.display()
    );
    let mut files = BTreeMap::new();
    for part in PARTS {
        let path = folder.join(part);
        if path.is_dir() {
            collect(&path, part, &mut files).with_context(cannot)?;
        }
    }
    Ok(Bundle::of(files))
}

fn collect(
    folder: &Path,
    place: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let place = format!("{place}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &place, files)?;
        } else {
            files.insert(place, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}
