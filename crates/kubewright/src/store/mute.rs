//! Holds back the news of an object while a write of ours to it is under way: the watch often tells of our
//! own write before its answer is there, and who wrote it needs no telling. And remembers for as long that
//! it has ended, so that an answer that comes after its end does not bring it back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::key::Key;
use crate::queue::Priority;
use crate::store::Store;

/// The objects that are being written to, and what was heard of them since.
#[derive(Default)]
pub(super) struct Mutes(Mutex<HashMap<Key, Heard>>);

/// What was heard of an object during a write.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// The newest version.
    newest: Option<u64>,
    /// Up to which version it is gone.
    gone: Option<u64>,
}

impl Mutes {
    /// True if the news is kept for later.
    pub(super) fn keep(&self, key: &Key, version: u64) -> bool {
        let mut mutes = self.lock();
        let Some(heard) = mutes.get_mut(key) else { return false };
        heard.newest = heard.newest.max(Some(version));
        true
    }

    /// All that was of `key` up to this version has ended.
    pub(super) fn ended(&self, key: &Key, version: u64) {
        if let Some(heard) = self.lock().get_mut(key) {
            heard.gone = heard.gone.max(Some(version));
        }
    }

    /// True if what `key` was at this version is known to have ended since.
    pub(super) fn is_gone(&self, key: &Key, version: u64) -> bool {
        let gone = self.lock().get(key).and_then(|heard| heard.gone);
        gone.is_some_and(|gone| gone >= version)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Heard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.mutes.lock().insert(key.clone(), Heard::default());
        Mute { store: self, key, answered: None }
    }
}

impl Mute<'_> {
    /// The write was answered with this version, of itself and not of what was heard since: what was heard up
    /// to it is no news.
    pub(crate) fn answered(&mut self, version: u64) {
        self.answered = Some(version);
    }
}

impl Drop for Mute<'_> {
    fn drop(&mut self) {
        let heard = self.store.mutes.lock().remove(self.key).unwrap_or_default();
        if heard.newest > self.answered {
            let index = self.store.owner_of(self.key);
            self.store.announce(self.key, index.as_deref(), Priority::High, "changed");
        }
    }
}
