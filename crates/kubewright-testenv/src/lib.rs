//! A real Kubernetes for tests and for trying things out: etcd, kube-apiserver,
//! kube-controller-manager, kube-scheduler, and nodes with real pods. No fakes.
//!
//! A test gets a namespace of its own in an environment that the test binary shares:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright_testenv::Env;
//!
//! #[kubewright_testenv::test]
//! async fn a_config_map_is_kept(env: Env) {
//!     let map: ConfigMap = serde_json::from_str(r#"{"metadata": {"name": "a"}}"#).unwrap();
//!     let made = env.create(map).await;
//!     let found = env.api::<ConfigMap>().get("a").await.unwrap();
//!     assert_eq!(made.metadata.uid, found.metadata.uid);
//! }
//! ```
//!
//! `#[kubewright_testenv::test(controllers)]` adds the built-in controllers, `(nodes = 2)` nodes with
//! real pods, `(own)` an environment that the test may disturb. Without the attribute:
//!
//! ```no_run
//! # async fn example() -> Result<(), kubewright_testenv::Error> {
//! use kubewright_testenv::{Environment, Identity};
//!
//! let environment = Environment::builder().nodes(1).start().await?;
//! let jane = environment.client_as(Identity::User { name: "jane", groups: &["team"] }).await?;
//! environment.apiserver().pause();
//! // … what does the program under test do now?
//! environment.apiserver().resume();
//! environment.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//! - Nothing of an environment outlives its owner, not even one that is killed.
//! - Nothing that is sent to an address of the environment leaves the machine.
//! - Several environments run side by side, of one process or of many.

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
mod helm;
mod identity;
pub mod images;
mod keeper;
mod kubeconfig;
mod network;
mod node;
pub mod olm;
pub mod preflight;
mod process;
pub mod progress;
pub mod proxy;
mod registry;
mod snapshot;
mod version;
mod workspace;

pub use environment::{Builder, Environment};
pub use error::Error;
pub use harness::Env;
pub use helm::Helm;
pub use identity::{Disturbed, Showing, Shown};
pub use kubeconfig::Identity;
pub use kubewright_testenv_macros::test;
pub use node::{Node, containerd_socket};
pub use process::Process;
pub use registry::Registry;
pub use snapshot::Snapshot;
pub use version::{KubernetesVersion, UnknownVersion};
pub use workspace::MARKER;

/// Ends the environment in `directory`, which was [released](Environment::release) or whose owner was
/// killed, and removes the directory. Does nothing if there is none.
pub fn tear_down(directory: &std::path::Path) -> Result<(), Error> {
    keeper::tear_down(directory).map_err(Error::io("tear down", directory))
}

/// True if a process belongs to the environment in `directory`, whether that is still there or not.
pub fn has_processes(directory: &std::path::Path) -> bool {
    keeper::has_processes(directory)
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
