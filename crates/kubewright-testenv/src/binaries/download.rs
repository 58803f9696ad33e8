//! Fetches a program from its project's official release, with its checksum. Owns the addresses and
//! the check; a file whose checksum differs is never used.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::read::GzDecoder;
use ureq::Agent;

use crate::binaries::{Binary, COREDNS_VERSION, HELM_VERSION, Platform, REGISTRY_VERSION, golang};
use crate::cache::sha256;
use crate::progress::Progress;
use crate::version::KubernetesVersion;

/// Long enough for a slow network, short enough not to be noticed where there is none.
const CONNECT: Duration = Duration::from_secs(5);
/// No single file takes longer than this, or it is built instead.
const TRANSFER: Duration = Duration::from_mins(10);

/// One unreachable host is enough: the other programs are not tried for, so a machine without a
/// network waits once.
static UNREACHABLE: AtomicBool = AtomicBool::new(false);

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
    #[error("the network was out of reach before")]
    Skipped,
    #[error("{url} cannot be reached")]
    Unreachable { url: String, source: Box<ureq::Error> },
    #[error("{url} broke off")]
    Transfer { url: String, source: io::Error },
    #[error("{url} has no checksum for this file")]
    NoChecksum { url: String },
    #[error("{url} has the checksum {actual} and should have {expected}")]
    Checksum { url: String, expected: String, actual: String },
    #[error("{url} does not hold {member}")]
    NoMember { url: String, member: &'static str },
}

/// Where one program comes from.
pub(super) struct Source {
    /// The file.
    url: String,
    /// A list of checksums that has a line for it, or its checksum alone.
    checksums: String,
    /// The program's name inside the file, if that is an archive.
    member: Option<&'static str>,
}

impl Source {
    /// None if there is no release of it but its source.
    pub(super) fn of(
        binary: Binary,
        version: KubernetesVersion,
        platform: Platform,
    ) -> Option<Self> {
        let Platform { os, architecture } = platform;
        Some(match binary {
            Binary::Etcd => {
                let etcd = golang::etcd_version(version);
                let base = format!("https://github.com/etcd-io/etcd/releases/download/v{etcd}");
                Self {
                    url: format!("{base}/etcd-v{etcd}-{os}-{architecture}.tar.gz"),
                    checksums: format!("{base}/SHA256SUMS"),
                    member: Some("etcd"),
                }
            }
            Binary::CoreDns => {
                let base = "https://github.com/coredns/coredns/releases/download";
                let url = format!(
                    "{base}/v{COREDNS_VERSION}/coredns_{COREDNS_VERSION}_{os}_{architecture}.tgz"
                );
                Self { checksums: format!("{url}.sha256"), url, member: Some("coredns") }
            }
            Binary::Registry => {
                let base = "https://github.com/distribution/distribution/releases/download";
                let base = format!("{base}/v{REGISTRY_VERSION}/registry_{REGISTRY_VERSION}");
                Self {
                    url: format!("{base}_{os}_{architecture}.tar.gz"),
                    checksums: format!("{base}_checksums.txt"),
                    member: Some("registry"),
                }
            }
            Binary::Helm => {
                let url =
                    format!("https://get.helm.sh/helm-v{HELM_VERSION}-{os}-{architecture}.tar.gz");
                Self { checksums: format!("{url}.sha256sum"), url, member: Some("helm") }
            }
            Binary::OperatorVerify
            | Binary::MetricsServer
            | Binary::Olm
            | Binary::OlmCatalog
            | Binary::PackageServer
            | Binary::Cpb
            | Binary::Opm
            | Binary::GrpcHealthProbe => return None,
            _ => {
                let name = binary.file_name();
                let url =
                    format!("https://dl.k8s.io/release/v{version}/bin/{os}/{architecture}/{name}");
                Self { checksums: format!("{url}.sha256"), url, member: None }
            }
        })
    }

    /// Downloads the program into the file `out`.
    pub(super) fn fetch(&self, out: &Path, progress: Progress) -> Result<(), DownloadError> {
        if UNREACHABLE.load(Ordering::Relaxed) {
            return Err(DownloadError::Skipped);
        }
        let agent: Agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(TRANSFER))
            .build()
            .into();
        let checksums = read(&agent, &self.checksums).inspect_err(|error| {
            if matches!(error, DownloadError::Unreachable { .. }) {
                UNREACHABLE.store(true, Ordering::Relaxed);
            }
        })?;
        let expected = checksum_for(&checksums, self.file_name())
            .ok_or_else(|| DownloadError::NoChecksum { url: self.checksums.clone() })?;
        progress.step(&format!("{}: downloading", self.file_name()), || {
            self.fetch_checked(&agent, expected, out)
        })
    }

    fn fetch_checked(
        &self,
        agent: &Agent,
        expected: &str,
        out: &Path,
    ) -> Result<(), DownloadError> {
        let transfer = |source| DownloadError::Transfer { url: self.url.clone(), source };
        let mut file = File::create(out).map_err(transfer)?;
        io::copy(&mut open(agent, &self.url)?, &mut file).map_err(transfer)?;
        file.flush().map_err(transfer)?;
        let actual = sha256(out).map_err(transfer)?;
        if actual != expected {
            let (url, expected) = (self.url.clone(), expected.to_owned());
            return Err(DownloadError::Checksum { url, expected, actual });
        }
        if let Some(member) = self.member {
            let found = unpack(out, member).map_err(transfer)?;
            if !found {
                return Err(DownloadError::NoMember { url: self.url.clone(), member });
            }
        }
        fs::set_permissions(out, fs::Permissions::from_mode(0o755)).map_err(transfer)
    }

    fn file_name(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or(&self.url)
    }
}

fn open(agent: &Agent, url: &str) -> Result<impl Read + use<>, DownloadError> {
    let failed =
        |error| DownloadError::Unreachable { url: url.to_owned(), source: Box::new(error) };
    Ok(agent.get(url).call().map_err(failed)?.into_body().into_reader())
}

fn read(agent: &Agent, url: &str) -> Result<String, DownloadError> {
    let mut text = String::new();
    let transfer = |source| DownloadError::Transfer { url: url.to_owned(), source };
    open(agent, url)?.take(1 << 20).read_to_string(&mut text).map_err(transfer)?;
    Ok(text)
}

/// Reads both `HASH` alone and lines of `HASH  NAME`.
fn checksum_for<'a>(checksums: &'a str, name: &str) -> Option<&'a str> {
    checksums.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let hash = words.next().filter(|hash| hash.len() == 64)?;
        match words.next() {
            None => Some(hash),
            Some(word) => (word.trim_start_matches('*') == name).then_some(hash),
        }
    })
}

/// Replaces the archive at `path` by its file called `member`, in whatever folder that is.
fn unpack(path: &Path, member: &str) -> io::Result<bool> {
    let archive = File::open(path)?;
    fs::remove_file(path)?; // the open file stays readable
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file()
            && entry.path()?.file_name() == Some(member.as_ref())
        {
            io::copy(&mut entry, &mut File::create(path)?)?;
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::net::TcpListener;

    use super::*;

    /// A release server on loopback that serves `files` by path, until the test ends.
    fn serve(files: Vec<(&'static str, Vec<u8>)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = io::BufReader::new(stream.try_clone().unwrap()).lines();
                let request = lines.next().unwrap().unwrap();
                for line in lines.by_ref() {
                    if line.unwrap().is_empty() {
                        break;
                    }
                }
                let path = request.split(' ').nth(1).unwrap();
                let found = files.iter().find(|(name, _)| *name == path);
                let (status, body) =
                    found.map_or(("404 Not Found", &[][..]), |(_, body)| ("200 OK", body));
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(head.as_bytes()).unwrap();
                stream.write_all(body).unwrap();
            }
        });
        base
    }

    fn checksum(content: &[u8]) -> String {
        use sha2::Digest as _;
        crate::cache::hex(&sha2::Sha256::digest(content))
    }

    fn tarball(member: &str, content: &[u8]) -> Vec<u8> {
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
            Vec::new(),
            flate2::Compression::fast(),
        ));
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, member, content).unwrap();
        archive.into_inner().unwrap().finish().unwrap()
    }

    fn fetch(source: &Source) -> Result<Vec<u8>, DownloadError> {
        let out = tempfile::NamedTempFile::new().unwrap();
        source.fetch(out.path(), Progress::Silent).map(|()| fs::read(out.path()).unwrap())
    }

    #[test]
    fn a_program_with_the_right_checksum_is_taken() {
        let base = serve(vec![
            ("/kubectl", b"program".into()),
            ("/sum", checksum(b"program").into_bytes()),
        ]);
        let source = Source {
            url: format!("{base}/kubectl"),
            checksums: format!("{base}/sum"),
            member: None,
        };
        assert_eq!(fetch(&source).unwrap(), b"program");
    }

    #[test]
    fn a_program_with_a_wrong_checksum_is_refused() {
        let base = serve(vec![
            ("/kubectl", b"tampered".into()),
            ("/sum", checksum(b"program").into_bytes()),
        ]);
        let source = Source {
            url: format!("{base}/kubectl"),
            checksums: format!("{base}/sum"),
            member: None,
        };
        assert!(matches!(fetch(&source), Err(DownloadError::Checksum { .. })));
    }

    #[test]
    fn a_program_is_taken_out_of_its_archive() {
        let archive = tarball("etcd-v3/etcd", b"program");
        let sums =
            format!("{}  other.tar.gz\n{}  etcd.tar.gz\n", checksum(b""), checksum(&archive));
        let base = serve(vec![("/etcd.tar.gz", archive), ("/SUMS", sums.into_bytes())]);
        let (url, checksums) = (format!("{base}/etcd.tar.gz"), format!("{base}/SUMS"));
        assert_eq!(fetch(&Source { url, checksums, member: Some("etcd") }).unwrap(), b"program");
    }

    #[test]
    fn addresses_follow_version_and_platform() {
        let platform = Platform { os: "linux", architecture: "arm64" };
        let source = Source::of(Binary::Kubelet, "1.35".parse().unwrap(), platform).unwrap();
        assert_eq!(source.url, "https://dl.k8s.io/release/v1.35.4/bin/linux/arm64/kubelet");
        let source = Source::of(Binary::Etcd, "1.36".parse().unwrap(), platform).unwrap();
        assert!(source.url.ends_with("/v3.6.8/etcd-v3.6.8-linux-arm64.tar.gz"), "{}", source.url);
    }
}
