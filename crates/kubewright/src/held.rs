//! What the cache keeps of an object: the text without its managedFields, compressed with a dictionary
//! of its kind; the fields that are ours; and what our last apply ended in.
//!
//! Made for being held in tens of thousands: two allocations each, no maps, no typed metadata. It is
//! decoded when it is read.

mod dictionary;
mod opened;
#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::dictionary::Dictionary;
pub(crate) use self::dictionary::Vocabulary;
use self::opened::{Lengths, Opened};
use crate::intent::{self, Intent};
use crate::quiet;
use crate::raw::Raw;

/// An object in the cache.
#[derive(Debug)]
pub(crate) struct Held {
    /// Namespace, name and uid, one after the other.
    identity: Box<str>,
    /// The text of the object, our fields, and our fields of its status, as one block: they share their
    /// words.
    block: Box<[u8]>,
    dictionary: Dictionary,
    version: u64,
    generation: Option<NonZeroU64>,
    /// The hash in our annotation.
    intent: Option<NonZeroU64>,
    /// The digest of our fields.
    fields: u64,
    /// The hash of the intent that an apply of ours ended in `fields` with, or that was found in them; 0 if
    /// none is known.
    memo: AtomicU64,
    lengths: Lengths,
    /// Where namespace and name end. Names are at most 253 bytes, in the oddest kinds some more.
    ends: [u16; 2],
    deleting: bool,
}

/// What goes into a block.
struct Content {
    bytes: Vec<u8>,
    lengths: Lengths,
    fields: u64,
}

impl Raw {
    /// What the cache keeps of it. `manager` is the name that we apply under.
    pub(crate) fn hold(self, manager: &str, vocabulary: &mut Vocabulary) -> Held {
        let content = Content::of(&self, manager);
        let dictionary = vocabulary.learn(&content.bytes);
        let meta = kube::Resource::meta(&self);
        let mut identity = String::new();
        let mut ends = [0; 2];
        for (part, end) in [&meta.namespace, &meta.name].into_iter().zip(&mut ends) {
            identity.push_str(part.as_deref().unwrap_or_default());
            *end = u16::try_from(identity.len()).unwrap_or(u16::MAX);
        }
        identity.push_str(meta.uid.as_deref().unwrap_or_default());
        Held {
            identity: identity.into(),
            block: dictionary.compress(&content.bytes),
            dictionary: dictionary.clone(),
            version: self.version(),
            generation: self
                .generation()
                .and_then(|number| u64::try_from(number).ok()?.try_into().ok()),
            intent: self.intent_hash().and_then(NonZeroU64::new),
            fields: content.fields,
            memo: AtomicU64::new(0),
            lengths: content.lengths,
            ends,
            deleting: self.deleting(),
        }
    }
}

impl Content {
    fn of(raw: &Raw, manager: &str) -> Self {
        let mut bytes = Vec::with_capacity(raw.text().len());
        match raw.managed_fields() {
            Some(managed) => {
                bytes.extend_from_slice(&raw.text().as_bytes()[..managed.start]);
                bytes.extend_from_slice(b"null");
                bytes.extend_from_slice(&raw.text().as_bytes()[managed.end..]);
            }
            None => bytes.extend_from_slice(raw.text().as_bytes()),
        }
        let [own, own_status] =
            raw.own_field_sets(manager).map(|set| set.map_or("", |set| set.get()));
        let lengths = Lengths {
            text: length(bytes.len()),
            fields: length(own.len()),
            status_fields: length(own_status.len()),
        };
        bytes.extend_from_slice(own.as_bytes());
        bytes.extend_from_slice(own_status.as_bytes());
        Self { bytes, lengths, fields: intent::digest(own.as_bytes()) }
    }
}

impl Held {
    /// Empty if the kind has no namespaces.
    pub(crate) fn namespace(&self) -> &str {
        self.part(0, self.ends[0].into())
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.part(self.ends[0].into(), self.ends[1].into())
    }

    /// Its uid.
    pub(crate) fn uid(&self) -> &str {
        self.part(self.ends[1].into(), self.identity.len())
    }

    /// The resourceVersion as a number, 0 if it is none.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// How often its spec was changed.
    pub(crate) fn generation(&self) -> Option<i64> {
        self.generation.and_then(|number| i64::try_from(number.get()).ok())
    }

    /// True once its deletion was asked for.
    pub(crate) fn deleting(&self) -> bool {
        self.deleting
    }

    /// The object as its type. An object that does not fit fails here, and nowhere else.
    pub(crate) fn decode<K: DeserializeOwned>(&self) -> Result<K, serde_json::Error> {
        self.open().decode()
    }

    /// The object as a value.
    pub(crate) fn value(&self) -> Value {
        self.open().value()
    }

    /// The text of the object, with a null for its managedFields.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.open().text()).into_owned()
    }

    /// The set of the fields that are ours.
    pub(crate) fn own_fields(&self) -> Option<Value> {
        self.open().own_fields()
    }

    /// Both of them, taken out of the block once. Without a set, nothing is ours.
    pub(crate) fn value_and_own_fields(&self) -> (Value, Value) {
        let opened = self.open();
        (opened.value(), opened.own_fields().unwrap_or_default())
    }

    /// Its parts, to be read one after the other.
    pub(crate) fn open(&self) -> Opened {
        let content = self.dictionary.decompress(&self.block, self.lengths.whole());
        Opened { content, lengths: self.lengths }
    }

    /// True if a status of ours was ever written.
    pub(crate) fn has_own_status(&self) -> bool {
        self.lengths.status_fields > 0
    }

    /// The hash of the intent last applied, from our annotation.
    pub(crate) fn intent_hash(&self) -> Option<u64> {
        self.intent.map(NonZeroU64::get)
    }

    /// True if applying `intent` would change nothing. What was found once need not be looked for again.
    pub(crate) fn is_quiet(&self, intent: &Intent) -> bool {
        let hash = intent.hash();
        if hash != 0 && self.memo() == hash {
            return true;
        }
        if self.intent_hash() != Some(hash) {
            return false;
        }
        let opened = self.open();
        let own = opened.own_fields();
        let quiet = own.is_some_and(|own| quiet::covers(intent.body(), &opened.value(), &own));
        if quiet {
            self.memo.store(hash, Ordering::Relaxed);
        }
        quiet
    }

    /// Remembers that this is what applying `intent` ended in, so that it is not applied again until
    /// either side changes; also where admission made something else of it.
    pub(crate) fn applied(&self, intent: &Intent) {
        self.memo.store(intent.hash(), Ordering::Relaxed);
    }

    /// Keeps what was remembered of an older state of the same object, if nothing of ours has changed
    /// since.
    pub(crate) fn carry_memo(&mut self, older: &Self) {
        // Another process that applies under our name changes the annotation, but not the set.
        let unchanged = self.fields == older.fields && self.intent == older.intent;
        if self.memo() == 0 && unchanged && self.uid() == older.uid() {
            *self.memo.get_mut() = older.memo();
        }
    }

    fn memo(&self) -> u64 {
        self.memo.load(Ordering::Relaxed)
    }

    fn part(&self, start: usize, end: usize) -> &str {
        self.identity.get(start..end).unwrap_or_default()
    }
}

/// No object has 4 GiB: etcd takes a few MiB.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
