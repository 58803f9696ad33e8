//! Holds back the news of an object while a write of ours to it is under way: the watch often tells of our
//! own write before its answer is there, and who wrote it needs no telling.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::key::Key;
use crate::queue::Priority;
use crate::store::Store;

/// The objects that are being written to, and the newest version that was heard of since.
#[derive(Default)]
pub(super) struct Mutes(Mutex<HashMap<Key, Option<u64>>>);

impl Mutes {
    /// True if the news is kept for later.
    pub(super) fn keep(&self, key: &Key, version: u64) -> bool {
        let mut mutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(heard) = mutes.get_mut(key) else { return false };
        *heard = (*heard).max(Some(version));
        true
    }
}

/// While it lives, news of one object are kept.
pub(crate) struct Mute<'a> {
    store: &'a Store,
    key: &'a Key,
    answered: Option<u64>,
}

impl Store {
    /// A write to `key` begins.
    pub(crate) fn mute<'a>(&'a self, key: &'a Key) -> Mute<'a> {
        let mut mutes = self.mutes.0.lock().unwrap_or_else(PoisonError::into_inner);
        mutes.insert(key.clone(), None);
        Mute { store: self, key, answered: None }
    }
}

impl Mute<'_> {
    /// The write was answered with this version: what was heard up to it is no news.
    pub(crate) fn answered(&mut self, version: u64) {
        self.answered = Some(version);
    }
}

impl Drop for Mute<'_> {
    fn drop(&mut self) {
        let mut mutes = self.store.mutes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = mutes.remove(self.key).flatten();
        drop(mutes);
        if heard > self.answered {
            let index = self.store.owner_of(self.key);
            self.store.announce(self.key, index.as_deref(), Priority::High, "changed");
        }
    }
}
