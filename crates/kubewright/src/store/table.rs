//! The objects of a store and its one index, kept in step. Decides nothing about what is news.

use std::collections::HashMap;
use std::sync::Arc;

use super::Arrival;
use crate::held::Held;
use crate::key::Key;
use crate::names;

/// One object.
pub(super) struct Entry {
    pub(super) held: Arc<Held>,
    pub(super) index: Option<Arc<str>>,
    /// We deleted it and the watch has not said so yet.
    pub(super) gone: bool,
    /// The listing during or after which it was last seen.
    epoch: u64,
}

impl Entry {
    pub(super) fn new(held: Held, index: Option<Arc<str>>, epoch: u64) -> Self {
        Self { held: Arc::new(held), index, gone: false, epoch }
    }
}

/// The objects by key, and their keys by index value.
#[derive(Default)]
pub(super) struct Table {
    entries: HashMap<Key, Entry>,
    index: HashMap<Arc<str>, Vec<Key>>,
    /// How many names are not their own label value.
    shortened: usize,
}

impl Table {
    pub(super) fn get(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.entries.keys()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn indexed(&self, value: &str) -> &[Key] {
        self.index.get(value).map_or(&[], Vec::as_slice)
    }

    /// What has this label value, in any namespace: what an object without a namespace may ask.
    pub(super) fn labelled(&self, value: &str) -> impl Iterator<Item = &Entry> {
        let is_it = move |index: &str| index.split_once('/').is_some_and(|(_, of)| of == value);
        let keys =
            self.index.iter().filter(move |(index, _)| is_it(index)).flat_map(|(_, keys)| keys);
        keys.filter_map(|key| self.entries.get(key)).filter(|entry| !entry.gone)
    }

    /// The key whose name is too long for a label value and was written as `value`.
    pub(super) fn shortened(&self, namespace: &str, value: &str) -> Option<Key> {
        if self.shortened == 0 {
            return None;
        }
        let mut keys = self.entries.keys().filter(|key| is_shortened(key));
        keys.find(|key| key.namespace() == namespace && names::label_value(key.name()) == value)
            .cloned()
    }

    /// Keeps the newer of the two. Gives what is held now, and the index value that was left.
    pub(super) fn insert(
        &mut self,
        key: Key,
        entry: Entry,
        arrival: Arrival,
    ) -> (Arc<Held>, Option<Arc<str>>) {
        if let Some(current) = self.entries.get_mut(&key) {
            // Equal versions: the one with the memo of our write.
            let (before, now) = (current.held.version(), entry.held.version());
            if before > now && !arrival.denies(before, now) {
                current.epoch = current.epoch.max(entry.epoch);
                return (current.held.clone(), None);
            }
        }
        let held = entry.held.clone();
        let index = entry.index.clone();
        let before = self.entries.insert(key.clone(), entry);
        let left = before.as_ref().and_then(|before| before.index.clone());
        if before.is_none() {
            self.shortened += usize::from(is_shortened(&key));
        }
        if left != index {
            if let Some(left) = &left {
                self.unindex(left, &key);
            }
            if let Some(index) = index {
                // Most have one: a Vec that grows by itself begins with four.
                self.index.entry(index).or_insert_with(|| Vec::with_capacity(1)).push(key);
            }
        }
        (held, left)
    }

    /// It was seen, and nothing about it is new.
    pub(super) fn mark(&mut self, key: &Key, epoch: u64) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.epoch = entry.epoch.max(epoch);
        }
    }

    pub(super) fn hide(&mut self, key: &Key, uid: &str) {
        if let Some(entry) = self.entries.get_mut(key).filter(|entry| entry.held.uid() == uid) {
            entry.gone = true;
        }
    }

    pub(super) fn remove_if(
        &mut self,
        key: &Key,
        condition: impl FnOnce(&Entry) -> bool,
    ) -> Option<Entry> {
        self.entries.get(key).filter(|entry| condition(entry))?;
        let entry = self.entries.remove(key)?;
        self.shortened -= usize::from(is_shortened(key));
        if let Some(index) = &entry.index {
            self.unindex(index, key);
        }
        Some(entry)
    }

    /// Takes away what was not seen since the listing `epoch` began.
    pub(super) fn sweep(&mut self, epoch: u64, namespace: Option<&str>) -> Vec<(Key, Entry)> {
        let is_unseen = |key: &Key, entry: &Entry| {
            namespace.is_none_or(|namespace| key.namespace() == namespace) && entry.epoch < epoch
        };
        let unseen = self.entries.iter().filter(|(key, entry)| is_unseen(key, entry));
        let unseen: Vec<Key> = unseen.map(|(key, _)| key.clone()).collect();
        let removed = unseen.into_iter().filter_map(|key| {
            let entry = self.remove_if(&key, |_| true)?;
            Some((key, entry))
        });
        removed.collect()
    }

    fn unindex(&mut self, index: &Arc<str>, key: &Key) {
        if let Some(keys) = self.index.get_mut(index) {
            keys.retain(|other| other != key);
            if keys.is_empty() {
                self.index.remove(index);
            }
        }
    }
}

fn is_shortened(key: &Key) -> bool {
    names::label_value(key.name()) != key.name()
}
