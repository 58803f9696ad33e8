//! What becomes ready later, ordered by when.

use std::collections::BTreeMap;

use tokio::time::Instant;

use crate::key::Key;

/// The place of an object among the delayed ones; the number tells those due together apart.
pub(super) type Slot = (Instant, u64);

/// The delayed objects. A map rather than a heap: an object that is wanted earlier is taken out
/// at once, so there is never more than one entry per object, however often it is added again.
#[derive(Default)]
pub(super) struct Delays {
    slots: BTreeMap<Slot, Key>,
    count: u64,
}

impl Delays {
    /// Lets an object wait until `due`, behind those due at the same time.
    pub(super) fn insert(&mut self, key: Key, due: Instant) -> Slot {
        let slot = (due, self.count);
        self.count += 1;
        self.slots.insert(slot, key);
        slot
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, slot: Slot) {
        self.slots.remove(&slot);
    }

    /// Takes out the earliest object if it is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Key> {
        let earliest = self.slots.first_entry()?;
        (earliest.key().0 <= now).then(|| earliest.remove())
    }

    /// When the next object is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.slots.first_key_value().map(|(slot, _)| slot.0)
    }

    /// Takes out everything.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    /// How many are delayed.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}
