//! A store whose objects are named in the specs of others, and how the two keep in step.

use std::sync::{Arc, PoisonError};

use kube::ResourceExt as _;

use crate::held::Held;
use crate::key::Key;
use crate::names;
use crate::raw::Raw;
use crate::store::references::Referrer;
use crate::store::{Mapping, Store};

/// The names that the spec of an object holds.
pub(crate) type NamesIn = Box<dyn Fn(&Held) -> Vec<String> + Send + Sync>;

/// Objects of one store are named in another.
pub(super) struct Namer {
    child: Arc<Store>,
    names: NamesIn,
}

impl Store {
    /// The specs of this store's objects name objects of `child`.
    pub(crate) fn refers_to(&self, child: Arc<Self>, names: NamesIn) {
        let mut namers = self.namers.write().unwrap_or_else(PoisonError::into_inner);
        namers.push(Namer { child, names });
    }

    /// What `held` names from now on; nothing if it is gone.
    pub(super) fn note_references(&self, key: &Key, held: Option<&Held>) {
        let namers = self.namers.read().unwrap_or_else(PoisonError::into_inner);
        for Namer { child, names } in namers.iter() {
            let names = held.map(names).unwrap_or_default();
            let namespace = if child.namespaced { key.namespace() } else { "" };
            let names = names.iter().map(|name| Key::new(namespace, name)).collect();
            let epoch = child.current_epoch();
            for dropped in child.references.set(&self.referrer(key), names, epoch) {
                child.write().remove_if(&dropped, |_| true);
            }
        }
    }

    /// True if the object belongs into this cache.
    pub(crate) fn admits(&self, raw: &Raw) -> bool {
        let key = || Key::new(&raw.namespace().unwrap_or_default(), &raw.name_any());
        self.mapping != Mapping::Named || self.references.wants(&key())
    }

    /// What the object `key` of `primary` names and nobody has looked for yet.
    pub(crate) fn unknown_references(&self, primary: &Self, key: &Key) -> Vec<Key> {
        self.references.unknown(&primary.referrer(key))
    }

    /// It was looked for, and put here if it is there.
    pub(crate) fn looked_for(&self, key: &Key) {
        self.references.looked_for(key);
    }

    /// The objects here that belong to the object `key` of `primary` with `uid`.
    pub(crate) fn children(&self, primary: &Self, key: &Key, uid: &str) -> Vec<Arc<Held>> {
        if self.mapping == Mapping::Named {
            let names = self.references.of(&primary.referrer(key));
            return names.iter().filter_map(|key| self.get(key)).collect();
        }
        if matches!(self.mapping, Mapping::Label(_)) && self.namespaced && !primary.namespaced {
            let value = names::label_value(key.name());
            return self.read().labelled(&value).map(|entry| entry.held.clone()).collect();
        }
        self.indexed(&self.index_of(key, uid))
    }

    /// The stores whose objects this one's are about.
    pub(crate) fn primaries(&self) -> Vec<Arc<Self>> {
        let subscribers = self.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        subscribers.iter().map(|subscriber| subscriber.primary.clone()).collect()
    }

    /// The keys in `primary` of the objects that name `key`.
    pub(super) fn named_by(&self, primary: &Self, key: &Key) -> Vec<Key> {
        let (address, _) = primary.referrer(key);
        let referrers = self.references.referrers(key).into_iter();
        referrers.filter(|(store, _)| *store == address).map(|(_, key)| key).collect()
    }

    fn referrer(&self, key: &Key) -> Referrer {
        (std::ptr::from_ref(self).addr(), key.clone())
    }
}
