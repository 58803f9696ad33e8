//! A map of limited size that gives up what was not touched for the longest time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// See the module.
pub(super) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The keys by the time of their last touch.
    order: BTreeMap<u64, K>,
    touches: u64,
    capacity: usize,
}

struct Entry<V> {
    touched: u64,
    value: V,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), touches: 0, capacity }
    }

    /// The value, which becomes the last to be given up.
    pub(super) fn touch<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entry = self.entries.get_mut(key)?;
        let key = self.order.remove(&entry.touched)?;
        self.touches += 1;
        entry.touched = self.touches;
        self.order.insert(self.touches, key);
        Some(&mut entry.value)
    }

    /// The value, left in its place.
    pub(super) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    /// Adds or replaces a value, as the last to be given up.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        if self.entries.len() >= self.capacity {
            self.remove_oldest_if(|_| true);
        }
        self.touches += 1;
        self.order.insert(self.touches, key.clone());
        self.entries.insert(key, Entry { touched: self.touches, value });
    }

    pub(super) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.touched);
        Some(entry.value)
    }

    /// Gives up what was not touched for the longest time, if `is_old` says so; false if nothing was.
    pub(super) fn remove_oldest_if(&mut self, is_old: impl FnOnce(&V) -> bool) -> bool {
        let Some((_, key)) = self.order.first_key_value() else { return false };
        if !self.entries.get(key).is_some_and(|entry| is_old(&entry.value)) {
            return false;
        }
        let key = key.clone();
        self.remove(&key).is_some()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, entry)| (key, &mut entry.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(map: &mut Recent<&'static str, u8>) -> Vec<&'static str> {
        let mut keys: Vec<_> = map.iter_mut().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        assert_eq!(map.order.len(), keys.len());
        keys
    }

    #[test]
    fn a_full_map_gives_up_what_was_not_touched_for_the_longest_time() {
        let mut map = Recent::new(2);
        map.insert("a", 1);
        map.insert("b", 2);
        assert_eq!(map.touch("a"), Some(&mut 1));
        map.insert("c", 3);
        assert_eq!(keys(&mut map), ["a", "c"]);
    }

    #[test]
    fn a_replaced_value_takes_no_other_place() {
        let mut map = Recent::new(2);
        map.insert("a", 1);
        map.insert("b", 2);
        map.insert("a", 3);
        assert_eq!(keys(&mut map), ["a", "b"]);
        assert_eq!(map.get_mut("a"), Some(&mut 3));
    }

    #[test]
    fn only_what_is_old_is_removed() {
        let mut map = Recent::new(3);
        map.insert("a", 1);
        map.insert("b", 2);
        assert!(!map.remove_oldest_if(|value| *value > 1));
        assert!(map.remove_oldest_if(|value| *value == 1));
        assert_eq!(keys(&mut map), ["b"]);
        assert_eq!((map.remove("b"), map.remove("b")), (Some(2), None));
        assert!(!map.remove_oldest_if(|_| true));
    }
}
