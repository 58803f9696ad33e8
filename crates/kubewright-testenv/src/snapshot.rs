//! The state of the cluster, set aside and brought back: a copy of etcd's data.

use std::fs;
use std::path::PathBuf;

use crate::control_plane::{ControlPlane, etcd};
use crate::error::Error;
use crate::workspace::{Workspace, copy_directory};

/// A copy of etcd's data, kept with the environment.
#[derive(Debug)]
pub struct Snapshot {
    directory: PathBuf,
}

/// Copies the data while etcd is halted: what is copied is what a crash at this moment would leave,
/// which etcd has to be able to start from.
pub(crate) fn take(workspace: &Workspace, control_plane: &ControlPlane) -> Result<Snapshot, Error> {
    let parent = workspace.directory("snapshots")?;
    let directory = tempfile::tempdir_in(&parent).map_err(Error::io("create", &parent))?.keep();
    control_plane.etcd.pause();
    let copied = copy_directory(&workspace.path(etcd::DATA), &directory);
    control_plane.etcd.resume();
    copied.map_err(Error::io("copy to", &directory))?;
    Ok(Snapshot { directory })
}

/// Brings the state back. The API server is started anew as well: its caches know the future.
pub(crate) async fn restore(
    workspace: &Workspace,
    control_plane: &ControlPlane,
    snapshot: &Snapshot,
) -> Result<(), Error> {
    control_plane.apiserver.kill().await?;
    control_plane.etcd.kill().await?;
    let data = workspace.path(etcd::DATA);
    fs::remove_dir_all(&data).map_err(Error::io("remove", &data))?;
    let data = workspace.directory(etcd::DATA)?;
    copy_directory(&snapshot.directory, &data)
        .map_err(Error::io("copy from", &snapshot.directory))?;
    control_plane.etcd.start()?;
    control_plane.until_etcd_ready().await?;
    control_plane.apiserver.start()?;
    control_plane.until_apiserver_ready().await
}
