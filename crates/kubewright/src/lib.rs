//! A controller runtime for Kubernetes: what controller-runtime is to Go, for Rust.
//!
//! You write what should be and what is, as plain functions, and one controller that puts them together.
//! The library does the rest: watches, caches, queue, back-off, server-side apply, pruning, status,
//! events, finalizers, leader election, probes, metrics, RBAC rules and the definition of your kind.
//!
//! ```no_run
//! use kubewright::k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! /// A note that becomes a ConfigMap.
//! #[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
//! #[kube(group = "demo.dev", version = "v1", kind = "Note", namespaced, status = "NoteStatus")]
//! pub struct NoteSpec {
//!     text: String,
//! }
//!
//! #[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
//! pub struct NoteStatus {
//!     #[serde(default)]
//!     conditions: Vec<Condition>,
//! }
//!
//! impl Conditions for NoteStatus {
//!     fn conditions(&mut self) -> &mut Vec<Condition> {
//!         &mut self.conditions
//!     }
//! }
//!
//! struct Notes {
//!     maps: Owned<ConfigMap>, // may create, change and delete; is watched; is pruned
//! }
//!
//! impl Controller for Notes {
//!     type Kind = Note;
//!     type Error = Error;
//!
//!     /// The only place where access is asked for. Watches, caches, RBAC rules and pruning follow from it.
//!     fn wire(wiring: &mut Wiring<Note>) -> Self {
//!         Self { maps: wiring.owns() }
//!     }
//!
//!     async fn reconcile(&self, note: &Note, pass: &Pass<Note>) -> Result<Outcome, Error> {
//!         self.maps.apply(pass, desired(note)).await?; // sends nothing if nothing differs
//!         Ok(Outcome::Done)
//!     }
//! }
//!
//! fn desired(note: &Note) -> ConfigMap {
//!     let data = [("text".to_owned(), note.spec.text.clone())];
//!     let mut map = ConfigMap { data: Some(data.into()), ..ConfigMap::default() };
//!     map.metadata.name = Some(note.name_any());
//!     map
//! }
//!
//! fn main() -> ExitCode {
//!     Operator::new("note-operator").controller::<Notes>().main()
//! }
//! ```
//!
//! Beside `kubewright` the derives need `kube` 5 (`default-features = false`), `k8s-openapi` 0.29,
//! `schemars` 1, `serde` and `serde_json` in your `Cargo.toml`: they name them.
//!
//! The program then has `run` (the default), `generate`, which prints everything that installing takes,
//! `install` and `uninstall`, and Kubebuilder's [flags](Flags).
//!
//! # What you can rely on
//!
//! - **A handle is a permission.** A kind is touched only through a handle ([`Owned`], [`Managed`],
//!   [`Reads`], [`Optional`]), a handle comes only from [`Controller::wire`], and `wire` is what prints the
//!   role. Code that compiles does not lack a permission; the role has none that no handle asked for.
//! - **Reads are local, writes are remembered.** Handles answer from the cache. It never gets older: the
//!   answer to a write goes through it, so a handle never answers with less than its own write.
//! - **Quiet.** A pass that changes nothing sends nothing, also after a restart. What others add to an
//!   object stays; what they change of yours is put back in one write, and a fight is recognised.
//! - **Only what is yours.** An object with your child's name and another owner is never written to; it
//!   becomes [`Error::Taken`]. Deletes carry uid and resourceVersion.
//! - **One status, written by the library**, on success and on failure, if it differs. The condition
//!   [`Reconciled`](RECONCILED) says whether the last pass succeeded, or why not.
//! - **Isolated.** A pass that panics, hangs or fails costs its own object only, with a back-off of its own.
//! - **Bounded.** Every request, pass, queue, cache and wait has a limit.
//!
//! # Where things are
//!
//! | you want | look at |
//! |---|---|
//! | to write a controller | [`Controller`], [`Wiring`], [`Pass`], [`Outcome`] |
//! | to touch objects | [`Owned`], [`Managed`], [`Reads`], [`Optional`] |
//! | errors with their retry | [`Failure`], [`Retry`], [`Error`] |
//! | conditions | [`conditions`], [`Conditions`], [`Reason`], [`rollout`] |
//! | to run it | [`Operator`], [`Flags`], [`Runnable`] |
//! | files to install it | [`generate`], [`project`] |
//! | to put them on a cluster and take them off | [`cluster`] |
//! | names that are always legal | [`names`] |
//! | pods without rights, a Deployment of them | [`workload`] |
//! | webhooks | the feature `webhook` and its module of that name |

#[cfg(panic = "abort")]
compile_error!("kubewright isolates a panicking reconcile: build with panic = \"unwind\"");

mod apply;
mod backoff;
mod client;
mod clock;
pub mod cluster;
pub mod conditions;
mod controller;
mod doomed;
mod drift;
mod error;
mod events;
mod fight;
mod finalizer;
pub mod flags;
pub mod generate;
mod handle;
mod health;
mod held;
mod home;
mod intent;
mod key;
mod kind;
mod lease;
mod manager;
mod metrics;
pub mod names;
mod operator;
mod outcome;
mod pace;
mod pass;
pub mod prelude;
pub mod project;
mod prune;
mod queue;
mod quiet;
mod raw;
mod reason;
mod reconciler;
mod registration;
mod registry;
mod rename;
mod report;
pub mod rollout;
mod runnable;
mod served;
mod server;
mod shutdown;
mod spacing;
mod status;
mod store;
mod telemetry;
mod watch;
#[cfg(feature = "webhook")]
pub mod webhook;
mod wiring;
mod worker;
pub mod workload;
mod write;

pub use clock::Clock;
pub use conditions::Conditions;
pub use controller::Controller;
#[doc(hidden)]
pub use controller::NoFinalizer;
pub use error::{Error, chain};
pub use finalizer::finalizer;
pub use flags::Flags;
pub use handle::{Managed, Optional, Owned, Reads};
pub use key::Key;
pub use kind::{Kind, MayOwn, Primary};
pub use manager::RunError;
pub use operator::Operator;
pub use outcome::{Failure, Outcome, Retry};
pub use pass::Pass;
pub use reason::Reason;
pub use report::RECONCILED;
pub use runnable::Runnable;
pub use wiring::{MANAGED_BY, Wiring};

pub use k8s_openapi;
pub use kube;
pub use schemars;

/// musl's own allocator gets memory from the kernel and gives it back with nearly every message: 18 calls
/// for each new object, of the 64 in all that were counted.
#[cfg(all(feature = "allocator", target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;
