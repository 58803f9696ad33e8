//! A folder with a bundle that is without fault until a test changes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const CSV: &str = "manifests/memcached-operator.clusterserviceversion.yaml";
pub(crate) const CRD: &str = "manifests/cache.example.com_memcacheds.yaml";
pub(crate) const ANNOTATIONS: &str = "metadata/annotations.yaml";

pub(crate) struct Folder(TempDir);

/// What `validate` answered.
pub(crate) struct Answer {
    pub(crate) findings: Vec<Finding>,
    pub(crate) succeeded: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    pub(crate) id: String,
    pub(crate) severity: String,
    pub(crate) file: String,
    pub(crate) wrong: String,
    pub(crate) remedy: String,
}

impl Folder {
    /// The memcached operator's own bundle, published in `stable`.
    pub(crate) fn good() -> Self {
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bundle");
        let folder = Self(tempfile::tempdir().unwrap());
        copy(Path::new(own), &folder.path());
        let text = folder.read(ANNOTATIONS).replace(": alpha", ": stable");
        folder.write(ANNOTATIONS, &text);
        folder
    }

    /// Where the bundle is.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("bundle")
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        fs::remove_file(self.path().join(file)).unwrap();
    }

    /// Changes the object in a file, which is JSON afterwards, and that is YAML, too.
    pub(crate) fn edit(&self, file: &str, change: impl FnOnce(&mut Value)) {
        let mut object: Value = serde_saphyr::from_str(&self.read(file)).unwrap();
        change(&mut object);
        self.write(file, &serde_json::to_string_pretty(&object).unwrap());
    }

    /// What `kubewright bundle validate` says of it.
    pub(crate) fn validated(&self) -> Answer {
        #[derive(Deserialize)]
        struct Said {
            errors: usize,
            warnings: usize,
            findings: Vec<Finding>,
        }
        let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
            .args(["bundle", "validate", "-o", "json"])
            .arg(self.path())
            .output()
            .unwrap();
        let Said { errors, warnings, findings } = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(findings.len(), errors + warnings);
        assert_eq!(output.status.code(), Some(i32::from(errors > 0)));
        Answer { findings, succeeded: output.status.success() }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
