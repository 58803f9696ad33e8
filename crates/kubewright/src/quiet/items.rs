//! Which entry of a field set stands for which item of a list.
//!
//! A set names the items of a list by their merge keys (`k:{"name":"a"}`) or, in a list of plain values,
//! by the value (`v:"a"`). That makes the schema unnecessary.

use serde_json::{Map, Value};

use super::same::same;

/// The merge keys of lists whose set says nothing, because no item of it is ours any more.
const USUAL_KEYS: [&[&str]; 9] = [
    &["name"],
    &["containerPort", "protocol"],
    &["port", "protocol"],
    &["mountPath"],
    &["devicePath"],
    &["ip"],
    &["type"],
    &["key"],
    &["topologyKey", "whenUnsatisfiable"],
];

/// The entries of the set of a list.
#[derive(Default)]
pub(crate) struct Entries<'a> {
    keys: Vec<Map<String, Value>>,
    /// What is ours of the item with the keys at the same place.
    sets: Vec<&'a Map<String, Value>>,
    plain: Vec<(Value, &'a Map<String, Value>)>,
}

impl<'a> Entries<'a> {
    /// The entries for items that are ours, in a set of what we applied.
    pub(crate) fn of(set: &'a Map<String, Value>) -> Self {
        let mut entries = Self::all(set);
        let keyed = entries.keys.into_iter().zip(entries.sets);
        // Without the item itself it is only the trace of an empty field that the server never kept, in
        // an item that is gone.
        let kept = keyed.filter(|(_, set)| set.is_empty() || set.contains_key("."));
        (entries.keys, entries.sets) = kept.unzip();
        entries
    }

    /// The entries in any set. One that is of no known form stands for no item.
    pub(crate) fn all(set: &'a Map<String, Value>) -> Self {
        let mut entries = Self::default();
        for (name, set) in set {
            let Some(set) = set.as_object() else { continue };
            match name.split_at_checked(2) {
                Some(("k:", keys)) => {
                    if let Ok(keys) = serde_json::from_str(keys) {
                        entries.keys.push(keys);
                        entries.sets.push(set);
                    }
                }
                Some(("v:", value)) => {
                    entries.plain.extend(serde_json::from_str(value).map(|value| (value, set)));
                }
                _ => {}
            }
        }
        entries
    }

    /// For each item the set of its fields, or none if it is not in the set.
    pub(crate) fn assign(&self, items: &[Value]) -> Vec<Option<&'a Map<String, Value>>> {
        let pairs = pair(items, &self.keys);
        let sets = items.iter().zip(pairs).map(|(item, at)| match at {
            Some(at) => Some(self.sets[at]),
            None => self.plain.iter().find(|(value, _)| value == item).map(|(_, set)| *set),
        });
        sets.collect()
    }

    /// How many items it stands for.
    pub(crate) fn len(&self) -> usize {
        self.keys.len() + self.plain.len()
    }

    /// True if the item has an entry.
    pub(crate) fn contains(&self, item: &Value) -> bool {
        self.keys.iter().any(|keys| fits(item, keys))
            || self.plain.iter().any(|(value, _)| value == item)
    }

    /// Which fields may be the merge keys of a list with this item: those of the set, else every usual
    /// choice that it has.
    pub(crate) fn key_names(&self, item: &Value) -> Vec<Vec<&str>> {
        if let Some(keys) = self.keys.first() {
            return vec![keys.keys().map(String::as_str).collect()];
        }
        // Nothing but a reference to an owner has one, and its name is no key.
        if item.get("uid").is_some() {
            return vec![vec!["uid"]];
        }
        let usual = USUAL_KEYS.iter().filter(|names| item.get(names[0]).is_some());
        usual.map(|names| names.to_vec()).collect()
    }

    /// What people call the item: `name=x`, or the value itself.
    pub(crate) fn name(&self, item: &Value) -> String {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let keys = self.key_names(item).into_iter().next().unwrap_or_default();
        let named = keys.iter().filter_map(|key| Some(format!("{key}={}", text(item.get(key)?))));
        let name = named.collect::<Vec<_>>().join(",");
        if name.is_empty() { text(item) } else { name }
    }

    /// For each wanted item the place of the actual one that has the same keys.
    pub(crate) fn find(&self, wanted: &[Value], actual: &[Value]) -> Vec<Option<usize>> {
        let mut places: Vec<Option<usize>> = pair(wanted, &self.keys)
            .into_iter()
            // The set knows the keys that the server filled in.
            .map(|at| at.and_then(|at| actual.iter().position(|item| has(item, &self.keys[at]))))
            .collect();
        let names: Vec<&str> =
            wanted.iter().flat_map(|item| self.key_names(item)).flatten().collect();
        let free: Vec<usize> =
            (0..actual.len()).filter(|at| !places.contains(&Some(*at))).collect();
        let keys: Vec<_> = free.iter().map(|at| only(&actual[*at], &names)).collect();
        let lost: Vec<usize> = (0..wanted.len()).filter(|index| places[*index].is_none()).collect();
        let items: Vec<Value> = lost.iter().map(|index| wanted[*index].clone()).collect();
        for (index, at) in lost.into_iter().zip(pair(&items, &keys)) {
            // An item that has none of the keys would fit anything.
            places[index] = at.filter(|at| !keys[*at].is_empty()).map(|at| free[at]);
        }
        places
    }
}

/// For each item the place of the keys that name it.
///
/// Each is used once, and items that name all keys choose first: a key that is left out is one that the
/// server fills in, so such an item would fit several.
fn pair(items: &[Value], keys: &[Map<String, Value>]) -> Vec<Option<usize>> {
    let mut free: Vec<usize> = (0..keys.len()).collect();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| keys.iter().map(|keys| unnamed(&items[*index], keys)).min());
    let mut pairs = vec![None; items.len()];
    for index in order {
        let item = &items[index];
        let fitting = free.iter().enumerate().filter(|(_, at)| fits(item, &keys[**at]));
        let best = fitting.min_by_key(|(_, at)| unnamed(item, &keys[**at]));
        if let Some(at) = best.map(|(place, _)| place) {
            pairs[index] = Some(free.remove(at));
        }
    }
    pairs
}

fn unnamed(item: &Value, keys: &Map<String, Value>) -> usize {
    keys.keys().filter(|key| item.get(*key).is_none()).count()
}

fn fits(item: &Value, keys: &Map<String, Value>) -> bool {
    item.is_object()
        && keys.iter().all(|(key, value)| item.get(key).is_none_or(|item| same(item, value)))
}

fn has(item: &Value, keys: &Map<String, Value>) -> bool {
    keys.iter().all(|(key, value)| item.get(key).is_some_and(|item| same(item, value)))
}

fn only(item: &Value, names: &[&str]) -> Map<String, Value> {
    let named = names.iter().filter_map(|name| Some(((*name).to_owned(), item.get(name)?.clone())));
    named.collect()
}
