//! Helm for tests of charts: the real one, found as the programs of a cluster are, and without what the
//! user of this machine has set up for it.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::binaries::{Binaries, Binary};
use crate::cache::Cache;
use crate::environment::Environment;
use crate::error::Error;
use crate::progress::Progress;
use crate::version::KubernetesVersion;

/// Helm, and the cluster that it speaks to, if any.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    home: TempDir,
    kubeconfig: Option<PathBuf>,
}

impl Helm {
    /// Helm without a cluster: `template`, `lint`. Blocks for as long as a build takes, if it is not there.
    pub fn find() -> Result<Self, Error> {
        let version = KubernetesVersion::newest();
        let binaries = Binaries::new(Cache::from_environment()?, version, Progress::Shown)?;
        let home = TempDir::new().map_err(Error::io("make", &std::env::temp_dir()))?;
        Ok(Self { program: binaries.find(Binary::Helm)?, home, kubeconfig: None })
    }

    /// Helm on the cluster of a test, with all rights.
    #[must_use]
    pub fn on(mut self, environment: &Environment) -> Self {
        self.kubeconfig = Some(environment.kubeconfig().to_owned());
        self
    }

    /// Runs it, and gives what it prints, or what it complains. Words are separated by blanks; quotes are
    /// not understood.
    pub fn run(&self, arguments: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace());
        for place in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(place, self.home.path());
        }
        match &self.kubeconfig {
            Some(kubeconfig) => command.env("KUBECONFIG", kubeconfig),
            None => command.env_remove("KUBECONFIG"),
        };
        let output = command.output().map_err(|error| format!("cannot run helm: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        Err(text + &String::from_utf8_lossy(&output.stderr))
    }
}
