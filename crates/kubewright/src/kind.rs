//! Which types a handle can be made for, which can be reconciled, and which may own which. No code
//! runs here: these are bounds, and the sentences the compiler says when one is not met.

use std::fmt::Debug;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::core::object::HasStatus;
use kube::{CustomResourceExt, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::conditions::Conditions;

/// A kind that can be read or written through a handle.
///
/// Every type of k8s-openapi is one, and every type with `#[derive(CustomResource)]` or
/// `#[derive(Resource)]`. The latter makes a *projection*: a type with only the fields that an operator
/// looks at.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::k8s_openapi::api::core::v1::Pod;
/// use kubewright::kube::core::ObjectMeta;
///
/// #[derive(Resource, Clone, Debug, serde::Serialize, serde::Deserialize)]
/// #[resource(inherit = Pod)]
/// struct PodPhase { metadata: ObjectMeta, status: Option<Phase> }
/// #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
/// struct Phase { phase: Option<String> }
///
/// fn is_a_kind<K: kubewright::Kind>() {}
/// is_a_kind::<PodPhase>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the kind of a handle",
    note = "a handle takes a k8s-openapi type, or a type with `#[derive(CustomResource)]` or `#[derive(Resource)]`"
)]
pub trait Kind:
    Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<K> Kind for K where
    K: Resource<DynamicType = ()>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// A kind that can be reconciled: a custom resource whose status has conditions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reconciled: it has no status that kubewright can write",
    note = "give it one: `#[kube(status = \"{Self}Status\")]`, and `impl Conditions for {Self}Status`"
)]
pub trait Primary: Kind {
    /// What the library writes at the end of every pass.
    type Status: Conditions;

    /// The definition as the derive makes it; [`crate::generate::crd::tidy`] makes it fit to print.
    #[doc(hidden)]
    fn definition() -> CustomResourceDefinition;
}

#[diagnostic::do_not_recommend]
impl<K> Primary for K
where
    K: Kind + CustomResourceExt + HasStatus<Status: Conditions>,
{
    type Status = <K as HasStatus>::Status;

    fn definition() -> CustomResourceDefinition {
        K::crd()
    }
}

/// Which scopes an owner of one scope may own through an owner reference.
#[diagnostic::on_unimplemented(
    message = "a namespaced kind cannot own a cluster-scoped one: Kubernetes ignores such an owner reference",
    note = "use `wiring.manages()` instead: ownership by label, cleaned up through a finalizer that kubewright adds"
)]
pub trait MayOwn {}

impl MayOwn for (NamespaceResourceScope, NamespaceResourceScope) {}
impl MayOwn for (ClusterResourceScope, NamespaceResourceScope) {}
impl MayOwn for (ClusterResourceScope, ClusterResourceScope) {}

/// A second candidate, so that the compiler does not infer the child's scope from the owner's and
/// report a mismatch of types instead of the note above.
impl MayOwn for (NamespaceResourceScope, std::convert::Infallible) {}
