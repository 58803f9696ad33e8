//! How etcd is run: one member, plain HTTP on loopback, data in the environment's directory.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::process::Process;
use crate::workspace::Workspace;

/// Where etcd keeps its data, inside the environment's directory.
pub(crate) const DATA: &str = "etcd";

pub(super) fn process(
    workspace: &Workspace,
    program: &Path,
    port: u16,
    peer_port: u16,
    durable: bool,
) -> Result<Process, Error> {
    let data = workspace.path(DATA);
    if data.exists() {
        fs::remove_dir_all(&data).map_err(Error::io("clear", &data))?; // of a try that found its port taken
    }
    let data = workspace.directory(DATA)?;
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{peer_port}");
    let mut lines = vec![
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--log-level=warn".to_owned(),
    ];
    if !durable {
        lines.push("--unsafe-no-fsync".to_owned());
    }
    Ok(Process::new(workspace, "etcd", super::arguments(program, &lines)))
}
