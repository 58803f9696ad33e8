//! The directory of one environment: its data, logs and keys.
//! Also the one place from which commands are run, so that each of them is known to the keeper.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use crate::cache::hex;
use crate::error::Error;
use crate::preflight::search_path;

/// The variable that marks a process as belonging to an environment, whose directory is its value: the keeper
/// ends it with the environment.
pub const MARKER: &str = "KUBEWRIGHT_ENVIRONMENT";

const PROXY_VARIABLES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// The directory of one environment.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Twelve digits that no other environment on this machine has: for names with a limited length.
    pub(crate) fn short_name(&self) -> String {
        let digest = Sha256::digest(self.root.as_os_str().as_encoded_bytes());
        hex(&digest[..6])
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes a directory that only we may read, with its parents.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path(name);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(Error::io("create", &path))?;
        Ok(path)
    }

    /// Writes a file that only we may read.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&path).map_err(Error::io("write", &path))?;
        file.write_all(content.as_ref()).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    /// Where a component writes its log.
    pub(crate) fn log(&self, component: &str) -> PathBuf {
        self.root.join("logs").join(format!("{component}.log"))
    }

    /// [`Self::run`] for a line whose words hold no spaces.
    pub(crate) async fn run_line(&self, line: &str) -> Result<String, Error> {
        self.run(&line.split_whitespace().collect::<Vec<_>>()).await
    }

    /// A command of this environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env(MARKER, &self.root).env("LC_ALL", "C").stdin(Stdio::null());
        command.env("PATH", search_path());
        // Everything that is spoken to is on this machine; a proxy to the outside would not find it.
        for name in PROXY_VARIABLES {
            command.env_remove(name).env_remove(name.to_ascii_lowercase());
        }
        command
    }

    /// Runs a command that is over in a moment; its output is the error when it fails.
    pub(crate) async fn run(&self, line: &[&str]) -> Result<String, Error> {
        let (program, arguments) =
            line.split_first().ok_or_else(|| Error::NoSuch("command".into()))?;
        let failed = |output| Error::Command { command: line.join(" "), output };
        let mut command = self.command(program);
        command.args(arguments);
        let output = tokio::process::Command::from(command).output().await;
        let output = output.map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }
}

/// Copies what is in one directory into another, which is made if need be.
pub(crate) fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
