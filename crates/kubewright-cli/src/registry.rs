//! Pushes an image to a registry, by the protocol that all of them speak (OCI distribution). Reading one is
//! `pull`'s.
//!
//! Owns the order: blobs first and only those that are missing, then the manifest that names them;
//! and how often something is tried again. How one request is sent is `session`'s.

mod challenge;
mod credentials;
mod error;
mod pull;
mod reference;
mod session;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::time::Duration;

use anyhow::Context as _;
use kubewright_testenv::cache::hex;
use kubewright_testenv::progress::Progress;
use serde_json::json;
use sha2::{Digest as _, Sha256};

pub(crate) use pull::{Image, pull};
pub(crate) use reference::Reference;

use crate::archive::{Archive, digest, megabytes};
use credentials::Credentials;
use error::PushError;
use session::{Content, Session};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// A registry that restarts is back after these; one that is down for longer is worth an error.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

/// What a manifest says of a blob.
struct Blob {
    file: File,
    media_type: &'static str,
    digest: String,
    size: u64,
}

/// Pushes `archive` as `reference` and gives the digest that the registry knows it by. `plain` speaks
/// HTTP to a registry that is not on this machine.
pub(crate) fn push(
    archive: &Archive,
    reference: &Reference,
    plain: bool,
) -> anyhow::Result<String> {
    let credentials = Credentials::find(reference.login())?;
    let mut session = Session::new(reference.clone(), plain, credentials);
    let configuration = blob(CONFIGURATION, |out| out.write_all(&archive.configuration))?;
    let layer = Progress::Shown
        .step("compressing the layer", || blob(LAYER, |out| archive.compress_layer(out)))?;
    for blob in [&layer, &configuration] {
        let step = format!("pushing {} of {}", megabytes(blob.size), blob.digest);
        Progress::Shown.step(&step, || retried(|| send_blob(&mut session, blob)))?;
    }
    let describe = |blob: &Blob| {
        json!({
            "mediaType": blob.media_type, "digest": blob.digest, "size": blob.size,
        })
    };
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": describe(&configuration),
        "layers": [describe(&layer)],
    });
    let manifest = manifest.to_string();
    retried(|| {
        let path = format!("manifests/{}", reference.tag);
        let content = Content::Bytes(MANIFEST, manifest.as_bytes());
        session.put(&session.address(&path), &content, "the manifest")
    })?;
    Ok(digest(manifest.as_bytes()))
}

/// Sends a blob unless the registry has it.
fn send_blob(session: &mut Session, blob: &Blob) -> Result<(), PushError> {
    if session.has(&session.address(&format!("blobs/{}", blob.digest)))? {
        return Ok(());
    }
    let place = session.begin(&session.address("blobs/uploads/"))?;
    let separator = if place.contains('?') { '&' } else { '?' };
    let place = format!("{place}{separator}digest={}", blob.digest);
    session.put(&place, &Content::File(&blob.file), "a blob")
}

/// Tries again what may go better a moment later.
fn retried<T>(mut attempt: impl FnMut() -> Result<T, PushError>) -> Result<T, PushError> {
    for pause in PAUSES {
        match attempt() {
            Err(error) if error.is_transient() => {
                let short = error.in_short();
                Progress::Shown.note(&format!("{short}; trying again in {pause:?}"));
                std::thread::sleep(pause);
            }
            result => return result,
        }
    }
    attempt()
}

/// Content in a nameless file, with its digest and size.
fn blob(
    media_type: &'static str,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> anyhow::Result<Blob> {
    let made = || -> io::Result<Blob> {
        let mut file = tempfile::tempfile()?;
        write(&mut file)?;
        let size = file.stream_position()?;
        file.rewind()?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                count => hasher.update(&buffer[..count]),
            }
        }
        let digest = format!("sha256:{}", hex(&hasher.finalize()));
        Ok(Blob { file, media_type, digest, size })
    };
    made().context("cannot prepare the image in a temporary file")
}
