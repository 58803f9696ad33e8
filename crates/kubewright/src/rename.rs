//! What an apply alone cannot put back, because it never removes what is somebody else's:
//! - an item of a list whose merge key was changed (a container or a variable that was renamed, a port
//!   that got another number). To the server that is another item; ours would be added beside it, or be
//!   refused because the two clash.
//! - a field in whose place another was put, of which the API allows only one (an `emptyDir` for a
//!   `configMap`; the server does so itself when a volume has lost its source).
//!
//! So a JSON patch puts it back; then the apply makes it ours again; then the patch's own trace in
//! managedFields goes, or it would keep alive what we drop later. Three requests.
//!
//! Caveats: only for an object whose intent has not changed since the last apply: an item that was just
//! added to the intent has not been renamed by anybody. Values of plain lists (finalizers) are never
//! taken for renamed: somebody else's finalizer must stay.

#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::quiet::{self, items::Entries, same::is_within};
use crate::raw::Raw;
use crate::write::pointer_step;

/// Fields of which an object may have only one.
const ONE_OF: [&[&str]; 3] = [
    &["value", "valueFrom"],
    &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"],
    &["exec", "grpc", "httpGet", "sleep", "tcpSocket"],
];

/// The operations of a JSON patch that puts back what an apply cannot; none if an apply will do. `held`
/// is the object as it is, `own` the set of the fields that are still ours. The patch is refused with 422
/// if the object has changed.
pub(crate) fn repair(intent: &Value, held: &Value, own: &Value) -> Option<Vec<Value>> {
    let mut repair = Repair::default();
    repair.walk(intent, held, own.as_object());
    if repair.operations.is_empty() {
        return None;
    }
    let metadata = &held["metadata"];
    let mut operations = guard(&metadata["uid"], &metadata["resourceVersion"]);
    operations.append(&mut repair.operations);
    Some(operations)
}

/// The operations of a JSON patch that removes what `manager` owns by having patched, rather than
/// applied, the object; none if it owns nothing that way.
pub(crate) fn disown(raw: &Raw, manager: &str) -> Option<Vec<Value>> {
    let owners = raw.field_owners().enumerate().filter(|(_, owner)| {
        !owner.applied && owner.subresource.is_none() && owner.manager == manager
    });
    let mut places: Vec<usize> = owners.map(|(place, _)| place).collect();
    if places.is_empty() {
        return None;
    }
    // From the last, because each removal moves those behind it.
    places.reverse();
    let meta = kube::Resource::meta(raw);
    let mut operations = guard(&json!(meta.uid), &json!(meta.resource_version));
    operations.extend(
        places.into_iter().map(
            |place| json!({"op": "remove", "path": format!("/metadata/managedFields/{place}")}),
        ),
    );
    Some(operations)
}

fn guard(uid: &Value, version: &Value) -> Vec<Value> {
    vec![
        json!({"op": "test", "path": "/metadata/uid", "value": uid}),
        json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}),
    ]
}

#[derive(Default)]
struct Repair {
    path: String,
    operations: Vec<Value>,
}

impl Repair {
    fn walk(&mut self, wanted: &Value, actual: &Value, own: Option<&Map<String, Value>>) {
        match (wanted, actual) {
            (Value::Object(wanted), Value::Object(actual)) => {
                for (key, wanted) in wanted {
                    let Some(actual) = actual.get(key) else {
                        self.displaced(key, wanted, actual);
                        continue;
                    };
                    let own = own.and_then(|own| quiet::field(key, own));
                    self.at(&pointer_step(key), |repair| repair.walk(wanted, actual, own));
                }
            }
            // An empty set is a list that has one owner as a whole, and it is us.
            (Value::Array(wanted), Value::Array(actual))
                if own.is_none_or(|own| !own.is_empty()) =>
            {
                self.walk_list(wanted, actual, own);
            }
            _ => {}
        }
    }

    fn walk_list(&mut self, wanted: &[Value], actual: &[Value], own: Option<&Map<String, Value>>) {
        let entries = own.map(Entries::of).unwrap_or_default();
        let sets = entries.assign(wanted);
        let mut places = entries.find(wanted, actual);
        for (index, item) in wanted.iter().enumerate() {
            if let Some(place) = places[index] {
                self.at(&place.to_string(), |repair| {
                    repair.walk(item, &actual[place], sets[index]);
                });
            } else if sets[index].is_none() {
                let renamed = Lookalikes { actual, entries: &entries, places: &places }.find(
                    item,
                    index,
                    wanted.len() == actual.len(),
                );
                if let Some((place, keys)) = renamed {
                    places[index] = Some(place);
                    self.at(&place.to_string(), |repair| {
                        repair.rename(item, &actual[place], &keys);
                    });
                }
            }
        }
    }

    /// Puts a field back that is not there, if another is in its place.
    fn displaced(&mut self, key: &str, wanted: &Value, actual: &Map<String, Value>) {
        let is_volume = is_item_of(&self.path, "volumes");
        let choice = ONE_OF.iter().find(|choice| choice.contains(&key));
        let in_its_place = |other: &&String| match choice {
            Some(choice) => choice.contains(&other.as_str()),
            None => is_volume && *other != "name",
        };
        let others: Vec<&String> = actual.keys().filter(in_its_place).collect();
        for other in &others {
            let path = format!("{}/{other}", self.path);
            self.operations.push(json!({"op": "remove", "path": path}));
        }
        if !others.is_empty() {
            let path = format!("{}/{key}", self.path);
            self.operations.push(json!({"op": "add", "path": path, "value": wanted}));
        }
    }

    /// Only the keys: what others have added to the item stays.
    fn rename(&mut self, wanted: &Value, actual: &Value, keys: &[&str]) {
        for key in keys {
            let path = format!("{}/{key}", self.path);
            match (wanted.get(key), actual.get(key)) {
                (Some(wanted), _) => {
                    self.operations.push(json!({"op": "add", "path": path, "value": wanted}));
                }
                // Left to the server to fill in.
                (None, Some(_)) => self.operations.push(json!({"op": "remove", "path": path})),
                (None, None) => {}
            }
        }
    }

    fn at(&mut self, step: &str, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(step);
        then(self);
        self.path.truncate(length);
    }
}

/// Items of the actual list that may be a wanted one under another name.
struct Lookalikes<'a, 'b> {
    actual: &'a [Value],
    entries: &'a Entries<'a>,
    /// Where the wanted items are.
    places: &'b [Option<usize>],
}

impl<'a> Lookalikes<'a, '_> {
    /// The place of the item that `wanted` has become, and the keys in which they differ.
    fn find(
        &self,
        wanted: &Value,
        index: usize,
        same_count: bool,
    ) -> Option<(usize, Vec<&'a str>)> {
        self.entries.key_names(wanted).into_iter().find_map(|keys| {
            let rest = without(wanted, &keys)?;
            // An item that is nothing but its keys looks like any other: only if none was added either.
            if rest.is_empty() && !same_count {
                return None;
            }
            let rest = Value::Object(rest);
            let mut candidates = self.between_neighbours(index);
            let place = candidates
                .find(|place| self.is_free(*place) && is_within(&rest, &self.actual[*place]))?;
            Some((place, keys))
        })
    }

    /// In an object that was edited, an item keeps its place among the others; what others add comes
    /// last. So an addition is seldom taken for one of ours that was removed.
    fn between_neighbours(&self, index: usize) -> Range<usize> {
        let before = self.places[..index].iter().rev().flatten().next();
        let after = self.places[index + 1..].iter().flatten().next();
        let start = before.map_or(0, |place| place + 1);
        let end = after.copied().unwrap_or(self.actual.len());
        if start <= end { start..end } else { 0..self.actual.len() }
    }

    fn is_free(&self, place: usize) -> bool {
        !self.places.contains(&Some(place)) && !self.entries.contains(&self.actual[place])
    }
}

fn is_item_of(path: &str, list: &str) -> bool {
    let mut steps = path.rsplit('/');
    steps.next().is_some_and(|step| step.parse::<usize>().is_ok()) && steps.next() == Some(list)
}

fn without(item: &Value, keys: &[&str]) -> Option<Map<String, Value>> {
    let mut rest = item.as_object()?.clone();
    rest.retain(|key, _| !keys.contains(&key.as_str()));
    Some(rest)
}
