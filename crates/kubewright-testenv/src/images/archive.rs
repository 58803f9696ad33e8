//! Writes one container image as a docker-archive tar: a configuration, one layer, a manifest.
//!
//! Owns the format and that the same input gives the same bytes. Reads the host files that it is
//! told to put in and nothing else; runs no program and knows nothing of where files come from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

use crate::cache::hex;

/// 2020-01-01: one fixed time for all entries, or no two tars of the same files would be the same.
const CREATED_SECONDS: u64 = 1_577_836_800;
const CREATED: &str = "2020-01-01T00:00:00Z";

/// What went wrong while an image was written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A path in the image that cannot be one.
    #[error("cannot put {} into the image: {reason}", path.display())]
    Path {
        /// The path in the image.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of the host that the image is to hold.
    #[error("cannot read {} for the image", path.display())]
    Read {
        /// The file of the host.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// The archive itself: full disk, no permission.
    #[error("cannot write the image archive {}", path.display())]
    Write {
        /// The archive.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
}

/// Where the content of one path of the image comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A copy of a file of the host, of what it points to if it is a link. Executable for all if it
    /// is for anybody.
    HostFile(PathBuf),
    /// A file with this content.
    Inline {
        /// The bytes of the file.
        content: Vec<u8>,
        /// Its permissions, such as `0o644`.
        mode: u32,
    },
    /// A symbolic link to this target.
    Symlink(PathBuf),
    /// A directory; only needed where its permissions are not `0o755`.
    Directory {
        /// Its permissions, such as `0o1777`.
        mode: u32,
    },
}

/// All there is to say about an image of one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageSpec {
    /// The full name, such as `docker.io/library/memcached:1.6.45`.
    pub name: String,
    /// The program and its first arguments; a pod's `args` come after them.
    pub entrypoint: Vec<String>,
    /// The environment of the program.
    pub env: BTreeMap<String, String>,
    /// Whom it runs as unless a pod says otherwise: a name out of the image's `/etc/passwd`, or
    /// numbers. Root if absent.
    pub user: Option<String>,
    /// What the image says of itself, such as `org.opencontainers.image.source`.
    pub labels: BTreeMap<String, String>,
    /// The absolute paths in the image; their parent directories are made.
    pub files: BTreeMap<PathBuf, Source>,
}

impl ImageSpec {
    /// Writes the archive to `out`.
    ///
    /// The layer goes through a nameless file beside `out`, since its digest and size come before it
    /// in the archive and it may be larger than what one likes to hold in memory.
    pub fn write(&self, out: &Path) -> Result<(), ArchiveError> {
        let failed = |source| ArchiveError::Write { path: out.to_owned(), source };
        let directory = out.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut layer =
            tempfile::tempfile_in(directory.unwrap_or(Path::new("."))).map_err(failed)?;
        let digest = self.write_layer(&layer, out)?;
        let size = layer.stream_position().map_err(failed)?;
        layer.rewind().map_err(failed)?;

        let configuration = self.configuration(&digest).to_string();
        let configuration_name = format!("{}.json", hex(&Sha256::digest(&configuration)));
        let layer_name = format!("{digest}/layer.tar");
        let manifest = json!([{
            "Config": configuration_name, "RepoTags": [self.name], "Layers": [layer_name],
        }])
        .to_string();

        let file = BufWriter::new(File::create(out).map_err(failed)?);
        let mut archive = tar::Builder::new(file);
        append(&mut archive, &configuration_name, configuration.as_bytes())
            .and_then(|()| {
                let mut header = header(EntryType::Regular, 0o644, size);
                archive.append_data(&mut header, &layer_name, &layer)
            })
            .and_then(|()| append(&mut archive, "manifest.json", manifest.as_bytes()))
            .and_then(|()| archive.into_inner()?.flush())
            .map_err(failed)
    }

    fn configuration(&self, layer_digest: &str) -> serde_json::Value {
        let env: Vec<_> = self.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut config = json!({ "Entrypoint": self.entrypoint, "Env": env });
        if let Some(user) = &self.user {
            config["User"] = json!(user);
        }
        if !self.labels.is_empty() {
            config["Labels"] = json!(self.labels);
        }
        json!({
            "architecture": architecture(),
            "os": "linux",
            "created": CREATED,
            "config": config,
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_digest}")] },
            "history": [{ "created": CREATED, "created_by": "kubewright" }],
        })
    }

    /// Writes the layer and gives its SHA-256.
    fn write_layer(&self, layer: &File, out: &Path) -> Result<String, ArchiveError> {
        let failed = |source| ArchiveError::Write { path: out.to_owned(), source };
        let hashing = Hashing { inner: BufWriter::new(layer), hasher: Sha256::new() };
        let mut builder = tar::Builder::new(hashing);
        for (path, source) in self.with_parents()? {
            let path = path.strip_prefix("/").unwrap_or(path);
            match source {
                Source::HostFile(host) => append_host_file(&mut builder, path, host, out)?,
                Source::Inline { content, mode } => {
                    let mut header = header(EntryType::Regular, *mode, content.len() as u64);
                    builder.append_data(&mut header, path, content.as_slice()).map_err(failed)?;
                }
                Source::Symlink(target) => {
                    let mut header = header(EntryType::Symlink, 0o777, 0);
                    builder.append_link(&mut header, path, target).map_err(failed)?;
                }
                Source::Directory { mode } => {
                    let mut header = header(EntryType::Directory, *mode, 0);
                    builder.append_data(&mut header, path, io::empty()).map_err(failed)?;
                }
            }
        }
        let mut hashing = builder.into_inner().map_err(failed)?;
        hashing.flush().map_err(failed)?;
        Ok(hex(&hashing.hasher.finalize()))
    }

    /// The files with all their parent directories, every parent before what is in it.
    fn with_parents(&self) -> Result<BTreeMap<&Path, &Source>, ArchiveError> {
        const PARENT: &Source = &Source::Directory { mode: 0o755 };
        let mut all = BTreeMap::new();
        for (path, source) in &self.files {
            let refused = |reason| ArchiveError::Path { path: path.clone(), reason };
            let mut components = path.components();
            if components.next() != Some(Component::RootDir)
                || !components.all(|component| matches!(component, Component::Normal(_)))
            {
                return Err(refused("not an absolute path"));
            }
            all.insert(path.as_path(), source);
            for parent in path.ancestors().skip(1).filter(|parent| *parent != Path::new("/")) {
                match self.files.get(parent).unwrap_or(PARENT) {
                    directory @ Source::Directory { .. } => all.insert(parent, directory),
                    _ => return Err(refused("what it is to be in is not a directory")),
                };
            }
        }
        Ok(all)
    }
}

/// The processor of this machine as images and Debian call it.
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(CREATED_SECONDS);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn append(archive: &mut tar::Builder<impl Write>, name: &str, content: &[u8]) -> io::Result<()> {
    let mut header = header(EntryType::Regular, 0o644, content.len() as u64);
    archive.append_data(&mut header, name, content)
}

fn append_host_file(
    builder: &mut tar::Builder<impl Write>,
    path: &Path,
    host: &Path,
    out: &Path,
) -> Result<(), ArchiveError> {
    let unreadable = |source| ArchiveError::Read { path: host.to_owned(), source };
    let file = File::open(host).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mode = if metadata.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
    let mut header = header(EntryType::Regular, mode, metadata.len());
    builder
        .append_data(&mut header, path, file.take(metadata.len()))
        .map_err(|source| ArchiveError::Write { path: out.to_owned(), source })
}

struct Hashing<W> {
    inner: W,
    hasher: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests;
