//! A real Kubernetes for tests and for trying things out: etcd, kube-apiserver,
//! kube-controller-manager, kube-scheduler, and nodes with real pods. No fakes.

pub mod audit;
pub mod binaries;
pub mod cache;
mod certificates;
mod client;
mod control_plane;
mod crds;
mod dns;
mod environment;
mod error;
pub mod harness;
mod identity;
pub mod images;
mod keeper;
mod kubeconfig;
mod network;
mod node;
pub mod preflight;
mod process;
pub mod progress;
pub mod proxy;
mod snapshot;
mod version;
mod workspace;

pub use environment::{Builder, Environment};
pub use error::Error;
pub use harness::Env;
pub use identity::Disturbed;
pub use kubeconfig::Identity;
pub use kubewright_testenv_macros::test;
pub use node::{Node, containerd_socket};
pub use process::Process;
pub use snapshot::Snapshot;
pub use version::{KubernetesVersion, UnknownVersion};

/// Ends the environment in `directory`, which was [released](Environment::release) or whose owner was
/// killed, and removes the directory. Does nothing if there is none.
pub fn tear_down(directory: &std::path::Path) -> Result<(), Error> {
    if directory.exists() {
        keeper::tear_down(directory).map_err(Error::io("tear down", directory))?;
    }
    Ok(())
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
