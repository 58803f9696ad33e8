//! A controller as the operator keeps it before it runs: wired anew for every use, once to print its
//! rules, once to run.

use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Resource as _;
use kube::discovery::ApiResource;

use crate::conditions::Conditions as _;
use crate::controller::{Controller, finalizes};
use crate::generate::crd::{initial, tidy};
use crate::handle::Ownership;
use crate::kind::Primary;
use crate::reconciler::{Live, Reconcile};
use crate::registry::Registry;
use crate::store::{Mapping, Store};
use crate::wiring::{Asked, Wiring, is_namespaced};
use crate::write::resource;

/// A controller without its types, before it runs.
pub(crate) trait Registered: Send + Sync {
    /// The kind in lower case, as controller-runtime names controllers.
    fn name(&self) -> String;
    /// `plural.group`, which tells it from all others.
    fn resource(&self) -> String;
    fn definition(&self) -> CustomResourceDefinition;
    fn wire(&self, registry: &Arc<Registry>) -> Wired;
}

/// A controller that has asked for what it needs.
pub(crate) struct Wired {
    pub(crate) reconciler: Arc<dyn Reconcile>,
    pub(crate) primary: Arc<Store>,
    pub(crate) asked: Asked,
    /// Whether something has to be done before an object goes.
    pub(crate) finalizes: bool,
}

/// The definition of a kind, fit to be installed.
pub(crate) fn definition<K: Primary>() -> CustomResourceDefinition {
    initial(tidy(K::definition()), K::Status::INITIAL)
}

/// A controller with its types, before it runs.
pub(crate) struct Registration<C>(PhantomData<fn() -> C>);

impl<C> Registration<C> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<C: Controller> Registered for Registration<C> {
    fn name(&self) -> String {
        C::Kind::kind(&()).to_lowercase()
    }

    fn resource(&self) -> String {
        resource(&ApiResource::erase::<C::Kind>(&()))
    }

    #[cfg(not(feature = "webhook"))]
    fn definition(&self) -> CustomResourceDefinition {
        definition::<C::Kind>()
    }

    /// With all versions; that of the controller is stored.
    #[cfg(feature = "webhook")]
    fn definition(&self) -> CustomResourceDefinition {
        let mut definition = definition::<C::Kind>();
        for other in self.wire(&Arc::new(Registry::new(""))).asked.versions {
            let versions = other().spec.versions.into_iter();
            definition.spec.versions.extend(versions.map(|mut version| {
                version.storage = false;
                version
            }));
        }
        definition
    }

    fn wire(&self, registry: &Arc<Registry>) -> Wired {
        let mut wiring = Wiring::new(registry.clone(), finalizes::<C>());
        let controller = C::wire(&mut wiring);
        let asked = wiring.into_asked();
        let manages = asked.sources.iter().any(|source| source.ownership == Some(Ownership::Label));
        let kind = ApiResource::erase::<C::Kind>(&());
        let primary = registry.store(&kind, is_namespaced::<C::Kind>(), None, &Mapping::Itself);
        let reconciler = Arc::new(Live(controller));
        Wired { reconciler, primary, asked, finalizes: manages || finalizes::<C>() }
    }
}
