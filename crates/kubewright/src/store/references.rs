//! Which objects of a kind are named in the specs of primaries, and in whose. Only these are kept in the
//! cache, so that watching a kind of which others have thousands costs no memory. No IO here.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::key::Key;

/// An object whose spec names others: the address of its cache, and its key.
pub(crate) type Referrer = (usize, Key);

/// What is named, by whom.
#[derive(Default)]
pub(super) struct References(Mutex<Table>);

#[derive(Default)]
struct Table {
    named: HashMap<Key, Named>,
    by: HashMap<Referrer, Vec<Key>>,
}

/// An object that is named, whether it exists or not.
struct Named {
    by: BTreeSet<Referrer>,
    /// The listing after which it was first named.
    epoch: u64,
    /// False until it was looked for: by a listing that began later, or on its own.
    known: bool,
}

impl References {
    /// `referrer` names these and no others; gives those that nobody names any more.
    pub(super) fn set(&self, referrer: &Referrer, names: Vec<Key>, epoch: u64) -> Vec<Key> {
        let mut table = self.table();
        let before = table.by.remove(referrer).unwrap_or_default();
        for key in &names {
            let named = Named { by: BTreeSet::new(), epoch, known: false };
            table.named.entry(key.clone()).or_insert(named).by.insert(referrer.clone());
        }
        let mut dropped = Vec::new();
        for key in before.into_iter().filter(|key| !names.contains(key)) {
            let Some(named) = table.named.get_mut(&key) else { continue };
            named.by.remove(referrer);
            if named.by.is_empty() {
                table.named.remove(&key);
                dropped.push(key);
            }
        }
        if !names.is_empty() {
            table.by.insert(referrer.clone(), names);
        }
        dropped
    }

    /// True if somebody names it.
    pub(super) fn wants(&self, key: &Key) -> bool {
        self.table().named.contains_key(key)
    }

    /// Those in whose spec it is.
    pub(super) fn referrers(&self, key: &Key) -> Vec<Referrer> {
        self.table()
            .named
            .get(key)
            .map(|named| named.by.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// What `referrer` names.
    pub(super) fn of(&self, referrer: &Referrer) -> Vec<Key> {
        self.table().by.get(referrer).cloned().unwrap_or_default()
    }

    /// What `referrer` names and nobody has looked for yet.
    pub(super) fn unknown(&self, referrer: &Referrer) -> Vec<Key> {
        let table = self.table();
        let names = table.by.get(referrer).into_iter().flatten();
        names
            .filter(|key| table.named.get(key).is_some_and(|named| !named.known))
            .cloned()
            .collect()
    }

    /// It was looked for, and the watch tells the rest.
    pub(super) fn looked_for(&self, key: &Key) {
        if let Some(named) = self.table().named.get_mut(key) {
            named.known = true;
        }
    }

    /// A listing of `namespace`, or of all, that began at `epoch` has ended.
    pub(super) fn listed(&self, epoch: u64, namespace: Option<&str>) {
        for (key, named) in &mut self.table().named {
            let listed = namespace.is_none_or(|namespace| key.namespace() == namespace);
            named.known |= listed && named.epoch < epoch;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new("space", name)
    }

    #[test]
    fn what_nobody_names_any_more_is_dropped() {
        let references = References::default();
        let (one, two) = ((1, key("one")), (1, key("two")));
        references.set(&one, vec![key("shared"), key("own")], 0);
        references.set(&two, vec![key("shared")], 0);
        assert_eq!(references.referrers(&key("shared")), [one.clone(), two.clone()]);
        assert_eq!(references.set(&one, vec![], 0), [key("own")]);
        assert!(references.wants(&key("shared")) && !references.wants(&key("own")));
        assert_eq!(references.set(&two, vec![], 0), [key("shared")]);
    }

    #[test]
    fn a_listing_knows_only_what_was_named_before_it_began() {
        let references = References::default();
        let one = (1, key("one"));
        references.set(&one, vec![key("early")], 0);
        references.set(&one, vec![key("early"), key("late")], 1);
        references.listed(1, Some("elsewhere"));
        assert_eq!(references.unknown(&one), [key("early"), key("late")]);
        references.listed(1, Some("space"));
        assert_eq!(references.unknown(&one), [key("late")]);
        references.looked_for(&key("late"));
        assert!(references.unknown(&one).is_empty());
    }
}
