//! The handles that `wire` gives out: what a controller holds is what it may touch. Reads answer from the
//! cache and never send a request.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::apply::Apply;
use crate::error::Error;
use crate::held::Held;
use crate::intent::Intent;
use crate::key::Key;
use crate::kind::{Kind, Primary};
use crate::pass::Pass;
use crate::registry::Registry;
use crate::store::Store;
use crate::wiring::{MANAGED_BY, OWNER_LABEL};

/// How a child says whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// By a controlling owner reference: garbage collected by Kubernetes.
    Reference,
    /// As `Reference`, and never pruned.
    Kept,
    /// By a label: deleted by us, through a finalizer.
    Label,
}

/// What every handle is made of.
pub(crate) struct Link {
    pub(crate) store: Arc<Store>,
    pub(crate) primary: Arc<Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) ownership: Option<Ownership>,
}

impl Link {
    fn children<K: Kind, P: Primary>(&self, pass: &Pass<P>) -> Result<Vec<K>, Error> {
        let children = self.store.children(&self.primary, pass.key(), pass.uid());
        children.iter().map(|held| decode(held)).collect()
    }

    fn get<K: Kind, P: Primary>(&self, pass: &Pass<P>, name: &str) -> Result<Option<K>, Error> {
        let key = match (self.store.namespaced, self.primary.namespaced) {
            (false, _) => Key::new("", name),
            (true, true) => Key::new(pass.key().namespace(), name),
            (true, false) => {
                let (namespace, name) = name.split_once('/').unwrap_or_default();
                Key::new(namespace, name)
            }
        };
        let held = self.store.get(&key);
        held.map(|held| decode(&held)).transpose()
    }

    async fn apply<K: Kind, P: Primary>(&self, pass: &Pass<P>, desired: K) -> Result<K, Error> {
        let (key, intent) = self.intent(pass, desired)?;
        pass.want(&self.store, &key);
        let writer = self.registry.writer()?.clone();
        let (store, owner) = (self.store.clone(), pass.uid().to_owned());
        let one_at_a_time = pass.one_at_a_time();
        let primary = self.primary.clone();
        let apply = Apply { writer, store, primary, key, owner, intent, one_at_a_time };
        let held = apply.run().await?;
        decode(&held)
    }

    /// The child as it is to be, with what says that it is ours.
    fn intent<K: Kind, P: Primary>(
        &self,
        pass: &Pass<P>,
        mut desired: K,
    ) -> Result<(Key, Intent), Error> {
        let kind = K::kind(&());
        let meta = desired.meta_mut();
        let Some(name) = meta.name.clone().filter(|name| !name.is_empty()) else {
            return Err(Error::Unnamed { kind: kind.into_owned() });
        };
        if self.store.namespaced {
            let own = pass.key().namespace();
            let namespace = meta.namespace.get_or_insert_with(|| own.to_owned());
            if namespace.is_empty() {
                return Err(Error::NoNamespace { kind: kind.into_owned(), name });
            }
            if !own.is_empty() && namespace != own {
                let (kind, namespace, own) = (kind.into(), namespace.clone(), own.to_owned());
                return Err(Error::Elsewhere { kind, name, namespace, own });
            }
        }
        let key = Key::new(meta.namespace.as_deref().unwrap_or_default(), &name);
        let labels = meta.labels.get_or_insert_default();
        labels.insert(MANAGED_BY.to_owned(), self.registry.manager.to_string());
        if self.ownership == Some(Ownership::Label) {
            labels.insert(OWNER_LABEL.to_owned(), pass.uid().to_owned());
        } else {
            meta.owner_references = Some(vec![pass.owner_reference()]);
        }
        meta.managed_fields = None;
        let body = serde_json::to_value(&desired).map_err(|source| Error::Unserializable {
            kind: kind.into_owned(),
            name,
            source,
        })?;
        Ok((key, Intent::new(body)))
    }
}

fn decode<K: Kind>(held: &Held) -> Result<K, Error> {
    held.decode().map_err(|source| Error::Undecodable {
        kind: K::kind(&()).into_owned(),
        name: Key::new(held.namespace(), held.name()).to_string(),
        source,
    })
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<K> {
            link: Link,
            kind: PhantomData<fn() -> K>,
        }

        impl<K: Kind> $name<K> {
            pub(crate) fn new(link: Link) -> Self {
                Self { link, kind: PhantomData }
            }

            /// The primary's objects of this kind, from the cache.
            pub fn of<P: Primary>(&self, pass: &Pass<P>) -> Result<Vec<K>, Error> {
                self.link.children(pass)
            }

            /// One object by name, from the cache: in the primary's namespace, or cluster-wide where the
            /// kind is. Whose it is does not matter. A primary without a namespace asks for
            /// `namespace/name`.
            pub fn get<P: Primary>(&self, pass: &Pass<P>, name: &str) -> Result<Option<K>, Error> {
                self.link.get(pass, name)
            }
        }

        impl<K: Kind> Debug for $name<K> {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, "{}<{}>", stringify!($name), K::kind(&()))
            }
        }
    };
}

handle!(
    /// Children that the primary owns: they may be created, changed and deleted, are watched, and are
    /// removed when a pass that ends in [`crate::Outcome::Done`] did not apply them; or never removed, if
    /// they come from [`crate::Wiring::keeps`].
    Owned
);
handle!(
    /// As [`Owned`], for kinds that cannot have an owner reference: see [`crate::Wiring::manages`].
    Managed
);
handle!(
    /// Objects that may be read, and nothing else.
    Reads
);

impl<K: Kind> Owned<K> {
    /// Makes the object so; sends nothing if it is so already. Answers with the object as the server has
    /// it. Namespace, owner reference and the managed-by label are set for you; fields that you do not set
    /// are left to others.
    pub async fn apply<P: Primary>(&self, pass: &Pass<P>, desired: K) -> Result<K, Error> {
        self.link.apply(pass, desired).await
    }
}

impl<K: Kind> Managed<K> {
    /// As [`Owned::apply`].
    pub async fn apply<P: Primary>(&self, pass: &Pass<P>, desired: K) -> Result<K, Error> {
        self.link.apply(pass, desired).await
    }
}

/// A handle of a kind that the cluster may or may not serve.
#[derive(Debug)]
pub struct Optional<H> {
    served: Arc<AtomicBool>,
    handle: H,
}

impl<H> Optional<H> {
    pub(crate) fn new(served: Arc<AtomicBool>, handle: H) -> Self {
        Self { served, handle }
    }

    /// The handle while the cluster serves the kind. Every object is looked at again when that changes.
    pub fn served(&self) -> Option<&H> {
        self.served.load(Ordering::Acquire).then_some(&self.handle)
    }
}
