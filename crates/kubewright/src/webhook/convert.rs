//! Kinds in several versions: one is stored and reconciled, the others are converted from it and to it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::value::{RawValue, to_raw_value};

use crate::conditions::Conditions as _;
use crate::generate::crd::{initial, tidy};
use crate::kind::{Kind, Primary};

/// Another version of a kind, beside the one that its controller reconciles.
///
/// Declared by [`crate::Wiring::converts`]. Both ways must keep everything: what one version cannot say goes
/// into an annotation. They cannot fail, because an object that cannot be converted cannot be read by
/// anybody any more; metadata but for labels and annotations must stay as it is.
///
/// ```
/// # use kubewright::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
/// # pub struct Status { #[serde(default)] conditions: Vec<Condition> }
/// # impl Conditions for Status { fn conditions(&mut self) -> &mut Vec<Condition> { &mut self.conditions } }
/// # mod v1 { use super::*;
/// #[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
/// #[kube(group = "demo.dev", version = "v1", kind = "Note", namespaced, status = "Status")]
/// pub struct NoteSpec { pub text: String }
/// # }
/// # mod v1alpha1 { use super::*;
/// #[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
/// #[kube(group = "demo.dev", version = "v1alpha1", kind = "Note", namespaced, status = "Status")]
/// pub struct NoteSpec { pub body: String }
/// # }
/// impl kubewright::webhook::Convert for v1alpha1::Note {
///     type Hub = v1::Note;
///
///     fn to_hub(self) -> v1::Note {
///         let spec = v1::NoteSpec { text: self.spec.body };
///         v1::Note { metadata: self.metadata, spec, status: self.status }
///     }
///
///     fn from_hub(hub: v1::Note) -> Self {
///         let spec = v1alpha1::NoteSpec { body: hub.spec.text };
///         Self { metadata: hub.metadata, spec, status: hub.status }
///     }
/// }
/// # fn main() {} // so that these are modules of a crate
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted",
    note = "`impl kubewright::webhook::Convert for {Self}` with `type Hub`, `fn to_hub` and `fn from_hub`"
)]
pub trait Convert: Kind + CustomResourceExt {
    /// The version that is stored and reconciled.
    type Hub: Primary;

    /// The same object in the stored version.
    fn to_hub(self) -> Self::Hub;

    /// The same object in this version.
    fn from_hub(hub: Self::Hub) -> Self;
}

/// A version without its type, on the way from and to the stored one.
pub(crate) struct Spoke<P> {
    pub(super) api_version: String,
    pub(crate) definition: fn() -> CustomResourceDefinition,
    pub(super) to_hub: fn(&str) -> serde_json::Result<P>,
    pub(super) from_hub: fn(P) -> serde_json::Result<Box<RawValue>>,
}

impl<P: Primary> Spoke<P> {
    pub(crate) fn of<V: Convert<Hub = P>>() -> Self {
        Self {
            api_version: V::api_version(&()).into_owned(),
            definition: || initial(tidy(V::crd()), P::Status::INITIAL),
            to_hub: |text| serde_json::from_str::<V>(text).map(V::to_hub),
            from_hub: |hub| to_raw_value(&V::from_hub(hub)),
        }
    }
}
