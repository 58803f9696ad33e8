//! Admission and conversion webhooks of an operator's kinds (feature `webhook`).
//!
//! A kind says what they do by implementing [`Validate`], [`Default`] or [`Convert`], and its controller says
//! that they are there, in the one place where everything is asked for:
//!
//! ```no_run
//! # use kubewright::k8s_openapi::api::core::v1::ConfigMap;
//! # use kubewright::prelude::*;
//! use kubewright::webhook::{self, Request, Validate, Verdict};
//! # use serde::{Deserialize, Serialize};
//! # #[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
//! # #[kube(group = "demo.dev", version = "v1", kind = "Note", namespaced, status = "NoteStatus")]
//! # pub struct NoteSpec { text: String }
//! # #[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
//! # pub struct NoteStatus { #[serde(default)] conditions: Vec<Condition> }
//! # impl Conditions for NoteStatus { fn conditions(&mut self) -> &mut Vec<Condition> { &mut self.conditions } }
//! # struct Notes { maps: Owned<ConfigMap> }
//!
//! impl Validate for Note {
//!     fn validate(&self, request: &Request<Self>, verdict: &mut Verdict) {
//!         if self.spec.text.is_empty() {
//!             verdict.refuse("spec.text", "a note without a text says nothing");
//!         }
//!         if self.spec.text.len() > 1000 {
//!             verdict.warn("spec.text is long: people will not read it");
//!         }
//!     }
//! }
//!
//! impl webhook::Default for Note {
//!     fn set_defaults(&mut self, _: &Request<Self>) {
//!         self.spec.text = self.spec.text.trim().to_owned();
//!     }
//! }
//!
//! impl Controller for Notes {
//! #   type Kind = Note;
//! #   type Error = Error;
//!     fn wire(wiring: &mut Wiring<Note>) -> Self {
//!         wiring.validates();
//!         wiring.defaults();
//!         Self { maps: wiring.owns() }
//!     }
//! #   async fn reconcile(&self, _: &Note, _: &Pass<Note>) -> Result<Outcome, Error> { Ok(Outcome::Done) }
//! }
//! ```
//!
//! The server, its certificate, the Service, the configurations, the permissions and the definition's conversion
//! follow from that. An operator that declares none has no port, no Service, no Secret.
//!
//! # What you can rely on
//! - **Pure.** What you write is a plain function of the request: no IO, so a dry run is as safe as any other.
//! - **Isolated.** It runs on a thread of its own; a panic is a refusal of that one call.
//! - **Bounded.** Connections, calls at a time, bytes and time have limits; what is over them is refused by HTTP.
//! - **Rotated.** Without mounted files the operator makes its certificate itself, keeps it in a Secret that all
//!   replicas share, and renews it long before it ends. Old and new authority are trusted meanwhile.

mod admission;
mod answer;
mod certificate;
mod conversion;
mod convert;
mod default;
mod hook;
mod keeper;
mod memory;
mod mounted;
mod patch;
mod places;
mod rotation;
mod secret;
mod server;
mod sound;
mod stall;
mod trust;
mod validate;

#[cfg(test)]
mod tests;

pub use convert::Convert;
pub use default::Default;
pub use kube::core::admission::{AdmissionRequest as Request, Operation};
pub use validate::{Validate, Verdict};

pub(crate) use answer::Routes;
pub(crate) use certificate::Current;
pub(crate) use convert::Spoke;
pub(crate) use hook::Hook;
pub(crate) use keeper::Keeper;
pub(crate) use mounted::found;
pub(crate) use rotation::Timing;
pub(crate) use server::{Phase, serve};
pub(crate) use trust::Trust;

use std::sync::{Arc, Mutex, PoisonError};

/// Whether calls can be answered, as the readiness check tells it. Shared.
#[derive(Clone)]
pub(crate) struct Standing(Arc<Mutex<Result<(), String>>>);

impl Standing {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Err("there is no certificate yet".to_owned()))))
    }

    pub(crate) fn set(&self, standing: Result<(), String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    pub(crate) fn get(&self) -> Result<(), String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
