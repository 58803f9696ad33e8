//! Reads the files of a small image, such as a bundle's, out of a registry.
//!
//! Owns the way from a name to files: index, manifest, layers, each checked against its digest. Must not write
//! to disk, nor judge what the files mean.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::credentials::Credentials;
use super::error::PushError;
use super::reference::Reference;
use super::session::Session;
use super::{digest, retried};

/// An index may name an index, and that is that.
const DEPTH: usize = 3;
/// Of all files together; far more than a bundle has.
const LARGEST: u64 = 64 << 20;

/// The name of an image to be read: with a tag, or with the digest that it was published under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    reference: Reference,
    digest: Option<String>,
}

impl FromStr for Image {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(digest.to_owned())),
            None => (text, None),
        };
        let is_digest = |text: &String| {
            let digits = text.strip_prefix("sha256:").unwrap_or_default();
            digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        if digest.as_ref().is_some_and(|digest| !is_digest(digest)) {
            return Err(format!("{text:?} is no name of an image: after @ comes sha256:…"));
        }
        Ok(Self { reference: name.parse()?, digest })
    }
}

impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.digest {
            None => write!(formatter, "{}", self.reference),
            Some(digest) => {
                let Reference { registry, repository, .. } = &self.reference;
                write!(formatter, "{registry}/{repository}@{digest}")
            }
        }
    }
}

/// What an image consists of.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// What it says of itself.
    pub(crate) labels: BTreeMap<String, String>,
    /// Regular files by their path, without a slash at its begin.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// Reads `image`. `plain` speaks HTTP to a registry that is not on this machine. What `refused` says against its labels
/// is an error before any of its layers is read.
pub(crate) fn pull(
    image: &Image,
    plain: bool,
    refused: fn(&BTreeMap<String, String>) -> Option<String>,
) -> anyhow::Result<Content> {
    let credentials = Credentials::find(image.reference.login())?;
    let session = Session::new(image.reference.clone(), plain, credentials);
    let mut reader = Reader { session, name: image.to_string() };
    let version = image.digest.clone().unwrap_or_else(|| image.reference.tag.clone());
    let manifest = reader.manifest(&version)?;
    let mut content = Content { labels: reader.labels(&manifest)?, files: BTreeMap::new() };
    if let Some(reason) = refused(&content.labels) {
        return Err(reader.unusable(&reason).into());
    }
    for layer in manifest["layers"].as_array().into_iter().flatten() {
        let bytes = reader.blob(layer)?;
        unpack(&bytes, &mut content.files).map_err(|error| reader.unusable(&error.to_string()))?;
    }
    Ok(content)
}

struct Reader {
    session: Session,
    name: String,
}

impl Reader {
    /// The manifest for Linux; of several, the first, since files that are not run are the same in all.
    fn manifest(&mut self, version: &str) -> Result<Value, PushError> {
        let mut version = version.to_owned();
        for _ in 0..DEPTH {
            let bytes = self.get(&format!("manifests/{version}"))?;
            self.check(&version, &bytes)?;
            let manifest: Value = serde_json::from_slice(&bytes)
                .map_err(|error| self.unusable(&format!("its manifest is no JSON: {error}")))?;
            let Some(list) = manifest["manifests"].as_array() else { return Ok(manifest) };
            let linux = list.iter().find(|one| one["platform"]["os"] == "linux");
            let named = linux.or(list.first()).and_then(|one| one["digest"].as_str());
            named.ok_or_else(|| self.unusable("its index is empty"))?.clone_into(&mut version);
        }
        Err(self.unusable("its index leads nowhere"))
    }

    fn labels(&mut self, manifest: &Value) -> Result<BTreeMap<String, String>, PushError> {
        let bytes = self.blob(&manifest["config"])?;
        let configuration: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let labels = configuration["config"]["Labels"].clone();
        Ok(serde_json::from_value(labels).unwrap_or_default())
    }

    /// What a manifest describes.
    fn blob(&mut self, described: &Value) -> Result<Vec<u8>, PushError> {
        let digest = described["digest"].as_str().map(str::to_owned);
        let digest =
            digest.ok_or_else(|| self.unusable("its manifest is of a kind not known here"))?;
        let bytes = self.get(&format!("blobs/{digest}"))?;
        self.check(&digest, &bytes)?;
        Ok(bytes)
    }

    fn get(&mut self, path: &str) -> Result<Vec<u8>, PushError> {
        let address = self.session.address(path);
        let Self { session, name } = self;
        retried(|| session.get(&address, name))
    }

    /// A tag says nothing of the content; a digest says all.
    fn check(&self, version: &str, bytes: &[u8]) -> Result<(), PushError> {
        if version.starts_with("sha256:") && version != digest(bytes) {
            return Err(self.unusable(&format!("what came is not {version}")));
        }
        Ok(())
    }

    fn unusable(&self, reason: &str) -> PushError {
        PushError::Unusable { image: self.name.clone(), reason: reason.to_owned() }
    }
}

/// Adds the files of a layer; what a later layer has, it has for good.
fn unpack(layer: &[u8], files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let is_compressed = layer.starts_with(&[0x1f, 0x8b]);
    let reader: Box<dyn Read> =
        if is_compressed { Box::new(MultiGzDecoder::new(layer)) } else { Box::new(layer) };
    let mut archive = tar::Archive::new(reader.take(2 * LARGEST)); // with headers, and what is no file
    let mut left = LARGEST.saturating_sub(files.values().map(|file| file.len() as u64).sum());
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
        let size = entry.size();
        left = left.checked_sub(size).ok_or_else(|| io::Error::other("its files are too large"))?;
        let mut content = Vec::new();
        if entry.read_to_end(&mut content)? as u64 != size {
            return Err(io::Error::other("a layer is cut off"));
        }
        files.insert(path.trim_start_matches('/').to_owned(), content);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_name_is_taken_or_refused(text in "([a-zA-Z0-9._:@/ü-]|sha256:){0,40}") {
            if let Ok(image) = text.parse::<Image>() {
                prop_assert_eq!(image.to_string().parse::<Image>().unwrap().to_string(), image.to_string());
            }
        }

        #[test]
        fn any_layer_is_unpacked_or_refused(
            at in 0..2048_usize,
            with in prop::collection::vec(any::<u8>(), 1..64),
            compressed in any::<bool>(),
        ) {
            let mut layer = layer("some text");
            let end = (at + with.len()).min(layer.len());
            layer.splice(at.min(end)..end, with);
            let layer = if compressed { gzip(&layer) } else { layer };
            let mut files = BTreeMap::new();
            let _ = unpack(&layer, &mut files);
            prop_assert!(files.values().map(|file| file.len() as u64).sum::<u64>() <= LARGEST);
        }
    }

    fn layer(content: &str) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, "manifests/a.yaml", content.as_bytes()).unwrap();
        builder.into_inner().unwrap()
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let (mut compressed, level) = (Vec::new(), flate2::Compression::default());
        let mut encoder = flate2::write::GzEncoder::new(&mut compressed, level);
        io::Write::write_all(&mut encoder, content).unwrap();
        encoder.finish().unwrap();
        compressed
    }

    #[test]
    fn layers_together_are_no_larger_than_one_may_be() {
        let zeros = "\0".repeat(usize::try_from(LARGEST).unwrap() / 2);
        let mut files = BTreeMap::new();
        unpack(&gzip(&layer(&zeros)), &mut files).unwrap();
        files.insert("another".to_owned(), vec![0; zeros.len()]);
        assert!(unpack(&gzip(&layer("more")), &mut files).is_err());
    }

    #[test]
    fn an_image_is_named_by_tag_or_by_digest() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let both = format!("example.com/a:v1@{digest}").parse::<Image>().unwrap();
        assert_eq!(both.to_string(), format!("example.com/a@{digest}"));
        assert_eq!("a:1".parse::<Image>().unwrap().to_string(), "docker.io/library/a:1");
        for text in ["a@", "a@sha256:0", "A", "a@md5:0"] {
            let error = text.parse::<Image>().unwrap_err();
            assert!(error.contains("is no name of an image"), "{error}");
        }
    }

    #[test]
    fn layers_are_laid_over_each_other_compressed_or_not() {
        let mut files = BTreeMap::new();
        unpack(&layer("first"), &mut files).unwrap();
        unpack(&gzip(&layer("second")), &mut files).unwrap();
        assert_eq!(files["manifests/a.yaml"], b"second");
    }
}
