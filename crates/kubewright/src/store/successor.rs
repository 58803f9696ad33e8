//! An object that was created anew under the name of one that is gone waits for the names of its children,
//! which the garbage collector has yet to free. News of their end goes to it too.

use std::sync::PoisonError;

use super::{Mapping, Store};
use crate::key::Key;
use crate::queue::Priority;
use crate::raw::Raw;

impl Store {
    /// To be called when a child is gone.
    pub(super) fn announce_to_successor(&self, child: &Raw, key: &Key) {
        if !matches!(self.mapping, Mapping::Owner) {
            return;
        }
        let Some(name) = child.owner_name() else { return };
        let subscribers = self.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.iter() {
            let namespace = if subscriber.primary.namespaced { key.namespace() } else { "" };
            let owner = Key::new(namespace, &name);
            let is_other = |uid: &str| Some(uid) != child.owner_uid();
            if subscriber.primary.get(&owner).is_some_and(|held| is_other(held.uid())) {
                subscriber.queue.add(owner, Priority::High, "a name is free");
            }
        }
    }
}
