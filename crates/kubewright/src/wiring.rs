//! What a controller may touch: the handles that `wire` asks for, and the RBAC rules, watches and caches
//! that follow from them. Running it needs no cluster.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use k8s_openapi::api::rbac::v1::PolicyRule;
#[cfg(feature = "webhook")]
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Resource;
use kube::discovery::ApiResource;

use crate::generate::rbac::rule;
use crate::handle::{Link, Managed, Optional, Owned, Ownership, Reads};
use crate::held::Held;
use crate::kind::{Kind, MayOwn, Primary};
use crate::registry::Registry;
use crate::store::{Mapping, Store};
#[cfg(feature = "webhook")]
use crate::webhook::{Hook, Spoke};

/// The label on everything the operator writes; watches of owned kinds select by it.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The label that names the owner's uid where an owner reference cannot.
pub(crate) const OWNER_LABEL: &str = "kubewright.dev/owner-uid";

/// What a cache takes. Reading single objects is not part of it: handles answer from the cache.
const READ: &[&str] = &["list", "watch"];
/// `get`, because an object that changes under our hands is looked at before it is written again.
const KEEP: &[&str] = &["get", "list", "watch", "create", "patch"];
/// Only what may be pruned may be deleted.
const OWN: &[&str] = &["get", "list", "watch", "create", "patch", "delete"];
/// To put a finalizer on and to take it off, from a list that changes under our hands too.
const FINALIZE: &[&str] = &["get", "patch"];

/// What `wire` asks for. See [`crate::Controller::wire`].
pub struct Wiring<P> {
    registry: Arc<Registry>,
    primary_store: Arc<Store>,
    asked: Asked,
    optional: Option<Arc<AtomicBool>>,
    primary: PhantomData<fn() -> P>,
    #[cfg(feature = "webhook")]
    spokes: Vec<Spoke<P>>,
}

/// The sum of what was asked for.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) cluster_rules: Vec<PolicyRule>,
    pub(crate) sources: Vec<Source>,
    #[cfg(feature = "webhook")]
    pub(crate) webhooks: Vec<Hook>,
    /// The definitions of the other versions of the kind.
    #[cfg(feature = "webhook")]
    pub(crate) versions: Vec<fn() -> CustomResourceDefinition>,
}

/// One cache that a controller reads.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) store: Arc<Store>,
    /// How what is no longer wanted is recognised; none for what is only read.
    pub(crate) ownership: Option<Ownership>,
}

impl<P: Primary> Wiring<P> {
    pub(crate) fn new(registry: Arc<Registry>, finalizes: bool) -> Self {
        let kind = ApiResource::erase::<P>(&());
        let primary_store = registry.store(&kind, is_namespaced::<P>(), None, &Mapping::Itself);
        let mut wiring = Self {
            registry,
            primary_store,
            asked: Asked::default(),
            optional: None,
            primary: PhantomData,
            #[cfg(feature = "webhook")]
            spokes: Vec::new(),
        };
        wiring.allow::<P>("", READ);
        wiring.allow::<P>("/status", &["patch"]);
        if finalizes {
            wiring.allow::<P>("", FINALIZE);
        }
        wiring.asked.rules.push(rule("events.k8s.io", "events", &["create", "patch"]));
        wiring
    }

    pub(crate) fn into_asked(self) -> Asked {
        #[cfg(feature = "webhook")]
        if !self.spokes.is_empty() {
            let mut asked = self.asked;
            asked.versions = self.spokes.iter().map(|spoke| spoke.definition).collect();
            asked.webhooks.push(Hook::converting(self.spokes));
            return asked;
        }
        self.asked
    }

    /// Objects are looked at before they are taken: a validating webhook follows from it, with the server,
    /// the certificate, the Service and the configuration that it takes.
    #[cfg(feature = "webhook")]
    pub fn validates(&mut self)
    where
        P: crate::webhook::Validate,
    {
        self.asked.webhooks.push(Hook::validating::<P>());
    }

    /// Objects are completed before they are taken: a mutating webhook follows from it.
    #[cfg(feature = "webhook")]
    pub fn defaults(&mut self)
    where
        P: crate::webhook::Default,
    {
        self.asked.webhooks.push(Hook::mutating::<P>());
    }

    /// The kind has another version, `V`: it becomes a part of the definition, and a conversion webhook
    /// follows from it. The controller's own version is the one that is stored.
    #[cfg(feature = "webhook")]
    pub fn converts<V: crate::webhook::Convert<Hub = P>>(&mut self) {
        self.spokes.push(Spoke::of::<V>());
    }

    /// Children that the primary owns through an owner reference: may be created, changed and deleted,
    /// are watched, and are removed when a pass that ends in [`crate::Outcome::Done`] did not apply them.
    pub fn owns<K: Kind>(&mut self) -> Owned<K>
    where
        (P::Scope, K::Scope): MayOwn,
    {
        self.owned(OWN, Ownership::Reference)
    }

    /// As [`Self::owns`], for children that are never pruned, so that the role needs no `delete`: every
    /// pass of an object applies the same names, and Kubernetes removes them with their owner. What a
    /// pass does not apply any more stays.
    ///
    /// ```
    /// # use kubewright::prelude::*;
    /// # use kubewright::k8s_openapi::{NamespaceResourceScope, api::apps::v1::Deployment};
    /// # fn wire<P>(wiring: &mut Wiring<P>) where P: kubewright::Primary + Resource<Scope = NamespaceResourceScope> {
    /// let deployments: Owned<Deployment> = wiring.keeps(); // always one, with the name of its owner
    /// # }
    /// ```
    pub fn keeps<K: Kind>(&mut self) -> Owned<K>
    where
        (P::Scope, K::Scope): MayOwn,
    {
        self.owned(KEEP, Ownership::Kept)
    }

    /// Children that cannot have an owner reference, as a cluster-scoped one of a namespaced primary:
    /// owned by label, and deleted through a finalizer that the library adds.
    pub fn manages<K: Kind>(&mut self) -> Managed<K> {
        self.allow::<K>("", OWN);
        self.allow::<P>("", FINALIZE);
        Managed::new(self.source::<K>(
            Some(self.managed_by()),
            &Mapping::OwnerLabel,
            Some(Ownership::Label),
        ))
    }

    /// Reads the objects of the primary's namespace whose `label` is the primary's name
    /// (as [`crate::names::label_value`] writes it).
    pub fn reads_labelled<K: Kind>(&mut self, label: impl Into<Cow<'static, str>>) -> Reads<K> {
        let label = label.into();
        let selector = label.clone().into_owned();
        self.labelled(label, selector)
    }

    /// As [`Self::reads_labelled`], and only what `selector` selects as well: the narrower it is, the
    /// fewer objects of others are transferred and kept.
    pub fn reads_matching<K: Kind>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        selector: impl Into<Cow<'static, str>>,
    ) -> Reads<K> {
        let label = label.into();
        let selector = format!("{label},{}", selector.into());
        self.labelled(label, selector)
    }

    /// Reads the objects that the primary names in its spec, as a Secret or a ConfigMap: in its namespace,
    /// or cluster-wide where the kind is. All of the kind are watched, and only the named ones are kept;
    /// the primary is looked at again when one of them changes, comes or goes.
    ///
    /// ```
    /// # use kubewright::prelude::*;
    /// # use kubewright::k8s_openapi::api::core::v1::ConfigMap;
    /// # fn wire<P: kubewright::Primary>(wiring: &mut Wiring<P>, settings: fn(&P) -> Option<String>) {
    /// let settings: Reads<ConfigMap> = wiring.refers_to(move |object| settings(object).into_iter().collect());
    /// # }
    /// ```
    pub fn refers_to<K: Kind>(
        &mut self,
        names: impl Fn(&P) -> Vec<String> + Send + Sync + 'static,
    ) -> Reads<K> {
        self.allow::<K>("", READ);
        self.allow::<K>("", &["get"]); // a name that is new is looked for: nothing was kept of it
        let link = self.source::<K>(None, &Mapping::Named, None);
        let names =
            move |held: &Held| held.decode().map(|primary| names(&primary)).unwrap_or_default();
        self.primary_store.refers_to(link.store.clone(), Box::new(names));
        Reads::new(link)
    }

    /// Whatever `ask` wires is used while the cluster serves its kinds, and never waited for.
    ///
    /// ```
    /// # use kubewright::prelude::*;
    /// # use kubewright::k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap as Monitor};
    /// # fn wire<P>(wiring: &mut Wiring<P>) where P: kubewright::Primary + Resource<Scope = NamespaceResourceScope> {
    /// let monitors: Optional<Owned<Monitor>> = wiring.optional(Wiring::owns);
    /// # }
    /// ```
    pub fn optional<H>(&mut self, ask: impl FnOnce(&mut Self) -> H) -> Optional<H> {
        let served = Arc::new(AtomicBool::new(false));
        let outer = self.optional.replace(served.clone());
        let handle = ask(self);
        self.optional = outer;
        self.asked.cluster_rules.push(rule(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            &["list", "watch"],
        ));
        Optional::new(served, handle)
    }

    fn owned<K: Kind>(&mut self, verbs: &[&str], ownership: Ownership) -> Owned<K> {
        self.allow::<K>("", verbs);
        // For clusters that enforce permissions on `blockOwnerDeletion`.
        self.allow::<P>("/finalizers", &["update"]);
        // A child that was deleted is made anew only if its owner is still there.
        self.allow::<P>("", &["get"]);
        Owned::new(self.source::<K>(Some(self.managed_by()), &Mapping::Owner, Some(ownership)))
    }

    fn labelled<K: Kind>(&mut self, label: Cow<'static, str>, selector: String) -> Reads<K> {
        self.allow::<K>("", READ);
        Reads::new(self.source::<K>(Some(selector), &Mapping::Label(label), None))
    }

    fn managed_by(&self) -> String {
        format!("{MANAGED_BY}={}", self.registry.manager)
    }

    fn allow<K: Kind>(&mut self, subresource: &str, verbs: &[&str]) {
        let rule = rule(&K::group(&()), &format!("{}{subresource}", K::plural(&())), verbs);
        if is_namespaced::<K>() {
            self.asked.rules.push(rule);
        } else {
            self.asked.cluster_rules.push(rule);
        }
    }

    fn source<K: Kind>(
        &mut self,
        selector: Option<String>,
        mapping: &Mapping,
        ownership: Option<Ownership>,
    ) -> Link {
        let kind = ApiResource::erase::<K>(&());
        let store = self.registry.store(&kind, is_namespaced::<K>(), selector, mapping);
        store.used_by(self.optional.clone());
        self.asked.sources.push(Source { store: store.clone(), ownership });
        let (primary, registry) = (self.primary_store.clone(), self.registry.clone());
        Link { store, primary, registry, ownership }
    }
}

/// Whether objects of `K` live in namespaces. By the name of a type, because the scope of a kind need not
/// live long enough for a `TypeId`.
pub(crate) fn is_namespaced<K: Resource<DynamicType = ()>>() -> bool {
    use std::any::type_name;
    type_name::<K::Scope>() == type_name::<k8s_openapi::NamespaceResourceScope>()
}
