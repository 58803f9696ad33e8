//! The Docker or Podman engine of this machine, if there is one that answers. Gives it an image.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use kubewright_testenv::progress::Progress;

/// Gives the image in `archive` to the engine and says which one that is.
pub(super) fn load(archive: &Path) -> anyhow::Result<Option<&'static str>> {
    let answers =
        |engine: &&str| output(engine, &["info"]).is_some_and(|info| info.status.success());
    let Some(engine) = ["docker", "podman"].into_iter().find(answers) else {
        return Ok(None);
    };
    let path = archive.display().to_string();
    let step = format!("giving the image to {engine}");
    let loaded = Progress::Shown.step(&step, || output(engine, &["load", "--input", &path]));
    let complaint = loaded.as_ref().map(|loaded| String::from_utf8_lossy(&loaded.stderr));
    anyhow::ensure!(
        loaded.as_ref().is_some_and(|loaded| loaded.status.success()),
        "the image is in {path}, but `{engine} load` failed: {}",
        complaint.unwrap_or_default().trim()
    );
    Ok(Some(engine))
}

/// None if the program is not installed.
fn output(program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()
}
