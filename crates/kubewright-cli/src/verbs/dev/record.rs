//! What is known of the environment that runs: written when it is up, read by every later command.
//! Says what was started, not how it is now; that is `observed`'s.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// In the environment's directory, so that it goes away with it.
const FILE: &str = "dev.json";

/// A started environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The version of Kubernetes.
    pub(super) version: String,
    /// How many nodes it has.
    pub(super) nodes: u8,
    /// The kubeconfig with all rights.
    pub(super) kubeconfig: PathBuf,
    /// The address of the API server.
    pub(super) server: String,
    /// A kubectl of the same version.
    pub(super) kubectl: PathBuf,
    /// When it was up, in seconds since 1970.
    pub(super) started: u64,
    /// Its components and their process ids.
    pub(super) processes: BTreeMap<String, Option<u32>>,
}

impl Record {
    /// The record in `directory`, if there is one.
    pub(super) fn read(directory: &Path) -> anyhow::Result<Option<Self>> {
        let path = directory.join(FILE);
        let content = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            content => content.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let record = serde_json::from_slice(&content);
        record.map(Some).with_context(|| {
            format!(
                "{} is damaged: run `kubewright dev down`, then `kubewright dev up`",
                path.display()
            )
        })
    }

    /// Keeps the record in `directory`.
    pub(super) fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let path = directory.join(FILE);
        let partial = directory.join(".dev.json.partial");
        let content = format!("{:#}\n", serde_json::to_value(self)?);
        // A reader finds all of it or nothing.
        let written = fs::write(&partial, content).and_then(|()| fs::rename(&partial, &path));
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    /// For how long it has been up.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.started))
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An environment with a node, as tests want it.
    pub(in super::super) fn record() -> Record {
        Record {
            version: "1.36.3".to_owned(),
            nodes: 1,
            kubeconfig: "/state/dev/kubeconfig".into(),
            server: "https://10.200.0.1:6443".to_owned(),
            kubectl: "/cache/kubectl".into(),
            started: 1_700_000_000,
            processes: BTreeMap::from([
                ("etcd".to_owned(), Some(11)),
                ("kube-apiserver".to_owned(), Some(12)),
                ("node-1/kubelet".to_owned(), None),
            ]),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Record::read(directory.path()).unwrap(), None);
        record().write(directory.path()).unwrap();
        assert_eq!(Record::read(directory.path()).unwrap(), Some(record()));
    }

    #[test]
    fn a_damaged_record_is_an_error_that_says_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE), "{").unwrap();
        let error = Record::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("run `kubewright dev down`"), "{error}");
    }
}
