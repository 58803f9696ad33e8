//! Where the files of a pinned module are, checked by Go against its checksums. For what is not a program
//! but comes with one, such as a chart.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{go, last_lines, prepare, remove};
use crate::binaries::Binary;
use crate::version::KubernetesVersion;

/// Why the files of a module could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Go could not be run, or its folder not be made.
    #[error("cannot run `go mod download {module}`")]
    Run {
        /// The module.
        module: &'static str,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// Go refused.
    #[error("`go mod download {module}` failed: {output}")]
    Failed {
        /// The module.
        module: &'static str,
        /// What it said.
        output: String,
    },
}

/// What Go prints of a module.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    dir: PathBuf,
}

/// The folder with the files of `module`, which is the one that `binary` is built from. Works in the folder
/// `place` meanwhile.
pub(crate) fn source(
    module: &'static str,
    binary: Binary,
    place: &Path,
) -> Result<PathBuf, SourceError> {
    let failed = |source| SourceError::Run { module, source };
    prepare(binary, KubernetesVersion::newest(), place).map_err(failed)?;
    let output = go().current_dir(place).args(["mod", "download", "-json", module]).output();
    remove(place).map_err(failed)?;
    let output = output.map_err(failed)?;
    let downloaded: Result<Downloaded, _> = serde_json::from_slice(&output.stdout);
    match downloaded {
        Ok(Downloaded { dir }) if output.status.success() => Ok(dir),
        _ => {
            // What is wrong with a module is told on standard output, the rest on standard error.
            let said = [output.stdout, output.stderr].concat();
            Err(SourceError::Failed { module, output: last_lines(&said) })
        }
    }
}
