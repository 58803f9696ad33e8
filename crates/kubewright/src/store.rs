//! The cache of one kind: objects as compressed text, one index, and who is told of a change.
//!
//! Guarantees: an object never gets older (by resourceVersion), so the answer of a write is not undone by
//! an event that was on its way; a relist takes objects away only at its end. No IO here.

mod arrival;
mod mute;
mod refer;
mod references;
mod standing;
mod successor;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use kube::ResourceExt as _;
use kube::discovery::ApiResource;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::held::{Held, Vocabulary};
use crate::intent::Intent;
use crate::key::Key;
use crate::names;
use crate::queue::{Priority, Queue};
use crate::raw::Raw;
use crate::spacing::Spacing;
pub(crate) use arrival::{Arrival, Round};
use mute::Mutes;
use refer::Namer;
use references::References;
use table::{Entry, Table};

/// Whoever deletes an object has its children deleted a moment later, and the two are told by different
/// watches: so long after the end of a child, the end of its owner may still be on its way.
const NEWS_OF_THE_OWNER: Duration = Duration::from_secs(5);

/// How an object leads to the object that is reconciled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// It is that object.
    Itself,
    /// By the uid of its controlling owner.
    Owner,
    /// By the uid in the owner label.
    OwnerLabel,
    /// By the value of this label, which is the name of an object in the same namespace.
    Label(Cow<'static, str>),
    /// By its name, which stands in the spec of that object.
    Named,
}

/// Somebody who wants to know of changes.
struct Subscriber {
    queue: Queue,
    primary: Arc<Store>,
}

/// The cache of one kind under one selector.
pub(crate) struct Store {
    pub(crate) kind: ApiResource,
    pub(crate) namespaced: bool,
    pub(crate) selector: Option<String>,
    pub(crate) mapping: Mapping,
    pub(crate) manager: Arc<str>,
    vocabulary: Mutex<Option<Vocabulary>>,
    table: RwLock<Table>,
    subscribers: RwLock<Vec<Subscriber>>,
    newest: AtomicU64,
    /// How many watches have not listed everything yet; the receiver side is who waits for none.
    behind: watch::Sender<usize>,
    epoch: AtomicU64,
    mutes: Mutes,
    /// What objects here name in other stores, and what others name here.
    namers: RwLock<Vec<Namer>>,
    references: References,
    /// Children that were deleted a moment ago.
    pub(crate) departed: Spacing,
    /// Since when which namespace's watch fails, and why.
    broken: Mutex<BTreeMap<String, (Instant, String)>>,
    /// The flags of handles that can do without this kind; none once one of them cannot.
    optional: Mutex<Option<Vec<Arc<AtomicBool>>>>,
}

impl Store {
    pub(crate) fn new(
        kind: ApiResource,
        namespaced: bool,
        selector: Option<String>,
        mapping: Mapping,
        manager: Arc<str>,
    ) -> Self {
        Self {
            kind,
            namespaced,
            selector,
            mapping,
            manager,
            vocabulary: Mutex::default(),
            table: RwLock::default(),
            subscribers: RwLock::default(),
            newest: AtomicU64::new(0),
            behind: watch::Sender::new(1),
            epoch: AtomicU64::new(0),
            mutes: Mutes::default(),
            namers: RwLock::default(),
            references: References::default(),
            departed: Spacing::new(NEWS_OF_THE_OWNER),
            broken: Mutex::default(),
            optional: Mutex::new(Some(Vec::new())),
        }
    }

    /// `queue` gets the key of the object in `primary` that a change here is about.
    pub(crate) fn subscribe(&self, queue: Queue, primary: Arc<Self>) {
        let mut subscribers = self.subscribers.write().unwrap_or_else(PoisonError::into_inner);
        subscribers.push(Subscriber { queue, primary });
    }

    /// The object, unless it is gone.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Held>> {
        self.read().get(key).filter(|entry| !entry.gone).map(|entry| entry.held.clone())
    }

    /// The objects with this value in the index: an owner's uid, or `namespace/label value`.
    pub(crate) fn indexed(&self, value: &str) -> Vec<Arc<Held>> {
        let table = self.read();
        let found = table.indexed(value).iter().filter_map(|key| table.get(key));
        found.filter(|entry| !entry.gone).map(|entry| entry.held.clone()).collect()
    }

    /// The uid of the owner of the object under `key`, where this store is indexed by it.
    pub(crate) fn owner_of(&self, key: &Key) -> Option<Arc<str>> {
        self.read().get(key).and_then(|entry| entry.index.clone())
    }

    /// The uid of the owner that an object names.
    pub(crate) fn owner_in(&self, raw: &Raw) -> Option<Arc<str>> {
        self.index(raw, &Key::new("", ""))
    }

    /// What [`Self::indexed`] is to be asked for the children of the object `key` with `uid`.
    pub(crate) fn index_of(&self, key: &Key, uid: &str) -> String {
        match &self.mapping {
            Mapping::Label(_) => label_index(key.namespace(), &names::label_value(key.name())),
            _ => uid.to_owned(),
        }
    }

    /// All keys.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.read().keys().cloned().collect()
    }

    /// How many objects are held.
    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    /// Learns from a page of a list what the objects of this kind have in common.
    pub(crate) fn learn(&self, page: &[Raw]) {
        if !page.is_empty() {
            let mut vocabulary = self.vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
            vocabulary.get_or_insert_with(|| Vocabulary::of(page, &self.manager));
        }
    }

    /// Takes an object in and tells the subscribers if it is news to them.
    pub(crate) fn put(&self, raw: Raw, arrival: Arrival) -> Arc<Held> {
        self.take(raw, arrival, None)
    }

    /// Takes in the answer to an apply of `intent`, and remembers what came of it.
    pub(crate) fn put_applied(&self, raw: Raw, intent: &Intent) -> Arc<Held> {
        self.take(raw, Arrival::Own, Some(intent))
    }

    fn take(&self, raw: Raw, arrival: Arrival, applied: Option<&Intent>) -> Arc<Held> {
        let key = Key::new(&raw.namespace().unwrap_or_default(), &raw.name_any());
        let index = self.index(&raw, &key);
        let version = raw.version();
        let before = self.read().get(&key).map(|entry| entry.held.clone());
        let is_as_new =
            |held: &Held| held.version() >= version && !arrival.denies(held.version(), version);
        let stays = before.filter(|held| is_as_new(held));
        if let (Some(held), None) = (stays, applied) {
            self.write().mark(&key, self.current_epoch());
            return held;
        }
        if let Some(held) = applied.and_then(|intent| self.told_before(&key, version, intent)) {
            return held;
        }
        if arrival.is_rewound() {
            self.newest.store(version, Ordering::Release); // the count starts anew
        } else {
            self.newest.fetch_max(version, Ordering::AcqRel);
        }
        let mut held = self.hold(raw);
        if let Some(intent) = applied {
            held.applied(intent);
        }
        let (held, left, is_kept) = {
            let mut table = self.write();
            let epoch = self.current_epoch();
            let is_known = table.get(&key).is_some();
            if !is_known && arrival == Arrival::Own && self.mutes.is_gone(&key, version) {
                return Arc::new(held); // it has ended since, and nobody would tell of that again
            }
            if let Some(other) = table.get(&key).map(|entry| entry.held.clone()) {
                if is_as_new(&other) && applied.is_none() {
                    table.mark(&key, epoch); // while this was packed, our own write was answered
                    return other;
                }
                held.carry_memo(&other);
            }
            // With the table in hand: a write of ours whose answer waits for it is not over yet.
            let is_kept = arrival == Arrival::Own || self.mutes.keep(&key, version);
            let entry = Entry::new(held, index.clone(), epoch);
            let (held, left) = table.insert(key.clone(), entry, arrival);
            (held, left, is_kept)
        };
        self.note_references(&key, Some(&held));
        if !is_kept {
            let priority = arrival.priority();
            let reason = if arrival == Arrival::Live { "changed" } else { "listed" };
            if let Some(left) = left.filter(|left| Some(left) != index.as_ref()) {
                self.announce(&key, Some(&left), priority, "left its owner");
            }
            self.announce(&key, index.as_deref(), priority, reason);
        }
        held
    }

    /// The watch has told of our write before its answer came: only what it ended in is to be remembered.
    fn told_before(&self, key: &Key, version: u64, intent: &Intent) -> Option<Arc<Held>> {
        let mut table = self.write();
        let held = table.get(key).filter(|entry| !entry.gone).map(|entry| entry.held.clone());
        let held = held.filter(|held| held.version() == version)?;
        held.applied(intent);
        table.mark(key, self.current_epoch());
        Some(held)
    }

    fn hold(&self, raw: Raw) -> Held {
        let mut vocabulary = self.vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        raw.hold(&self.manager, vocabulary.get_or_insert_default())
    }

    /// An object was deleted, as a watch says.
    pub(crate) fn remove(&self, raw: &Raw) {
        let key = Key::new(&raw.namespace().unwrap_or_default(), &raw.name_any());
        self.newest.fetch_max(raw.version(), Ordering::AcqRel);
        let removed = {
            let mut table = self.write();
            self.mutes.ended(&key, raw.version());
            table.remove_if(&key, |entry| {
                entry.held.uid() == raw.uid().unwrap_or_default()
                    || entry.held.version() < raw.version()
            })
        };
        if let Some(entry) = removed {
            self.note_references(&key, None);
            self.departed.note(&key);
            self.announce(&key, entry.index.as_deref(), Priority::High, "deleted");
            self.announce_to_successor(raw, &key);
        }
    }

    /// We deleted this very object: it answers no more, until the watch says that it is gone.
    pub(crate) fn deleted(&self, key: &Key, uid: &str) {
        self.write().hide(key, uid);
    }

    fn current_epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Begins a listing. To be called before it is asked for: what is seen from now on outlives it.
    pub(crate) fn begin(&self) -> Round {
        let epoch = self.epoch.fetch_add(1, Ordering::AcqRel) + 1;
        Round { epoch, newest: self.newest.load(Ordering::Acquire), version: 0 }
    }

    /// Ends a listing of `namespace`, or of all: what it did not hold is gone.
    pub(crate) fn end(&self, round: Round, namespace: Option<&str>) {
        let swept = {
            let mut table = self.write();
            let swept = table.sweep(round.epoch, namespace);
            for (key, _) in &swept {
                self.mutes.ended(key, round.version);
            }
            swept
        };
        self.references.listed(round.epoch, namespace);
        let priority = Arrival::Listed(round).priority();
        for (key, entry) in swept {
            self.note_references(&key, None);
            self.announce(&key, entry.index.as_deref(), priority, "gone");
        }
    }

    /// The kind is not served any more: nothing of it exists.
    pub(crate) fn clear(&self) {
        let round = self.begin();
        self.end(round, None);
    }

    /// Every object that this kind could be about is looked at again.
    pub(crate) fn announce_all(&self) {
        let subscribers = self.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.iter() {
            for key in subscriber.primary.keys() {
                subscriber.queue.add(key, Priority::Low, "a kind came or went");
            }
        }
    }

    fn index(&self, raw: &Raw, key: &Key) -> Option<Arc<str>> {
        match &self.mapping {
            Mapping::Named => None,
            Mapping::Itself => raw.uid().map(Arc::from),
            Mapping::Owner => raw.owner_uid().map(Arc::from),
            Mapping::OwnerLabel => raw.label(crate::wiring::OWNER_LABEL).map(Arc::from),
            Mapping::Label(label) => {
                raw.label(label).map(|value| label_index(key.namespace(), &value).into())
            }
        }
    }

    fn announce(&self, key: &Key, index: Option<&str>, priority: Priority, reason: &'static str) {
        let subscribers = self.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.iter() {
            let primary = &subscriber.primary;
            let about = match (&self.mapping, index) {
                (Mapping::Itself, _) => vec![key.clone()],
                (Mapping::Named, _) => self.named_by(primary, key),
                (_, None) => Vec::new(),
                (Mapping::Owner | Mapping::OwnerLabel, Some(uid)) => {
                    primary.read().indexed(uid).to_vec()
                }
                (Mapping::Label(_), Some(index)) => primary.named(index).into_iter().collect(),
            };
            for key in about {
                subscriber.queue.add(key, priority, reason);
            }
        }
    }

    /// The key whose name a label value stands for.
    fn named(&self, index: &str) -> Option<Key> {
        let (namespace, value) = index.split_once('/')?;
        let namespace = if self.namespaced { namespace } else { "" };
        let direct = Key::new(namespace, value);
        let table = self.read();
        if table.get(&direct).is_some() {
            return Some(direct);
        }
        table.shortened(namespace, value)
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn label_index(namespace: &str, value: &str) -> String {
    format!("{namespace}/{value}")
}
