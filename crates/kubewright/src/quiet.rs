//! Would an apply change anything? Answered from the set of fields that the server still counts as ours
//! (our `Apply` entry in managedFields), without a schema.
//!
//! Whoever changes or removes a field of ours, by an edit, a patch, `/scale` or a forced apply, takes it
//! out of that set. What the server adds or respells (defaults, quantities, order) and what others add
//! never enters or leaves it. Comparing values instead would fight a mutating admission policy for ever,
//! and could not tell a field that was dropped from one that has its default. Values decide only where
//! the set is ambiguous.

pub(crate) mod items;
pub(crate) mod same;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::items::Entries;
use self::same::is_within;

/// Part of the way from an object to one of its fields.
#[derive(Clone, Debug)]
pub(crate) enum Step<'a> {
    /// Into a field of an object.
    Field(&'a str),
    /// Into the item of a list that is wanted, which is called so.
    Item(&'a Value, String),
}

/// What is done with a field that was found: the way to it, what is wanted and what there is.
type Found<'f, 'a> = dyn FnMut(&[Step<'a>], &'a Value, Option<&Value>) + 'f;

/// True if every field of `intent` is in the set `own`. `held` is the object as it is.
pub(crate) fn covers(intent: &Value, held: &Value, own: &Value) -> bool {
    let mut all = true;
    search(intent, held, own, &mut |_, _, _| all = false);
    all
}

/// Calls `found` for every field of `intent` that is not in the set `own`.
pub(crate) fn search<'a>(intent: &'a Value, held: &Value, own: &Value, found: &mut Found<'_, 'a>) {
    let mut search = Search { path: Vec::new(), found };
    // An object of which nothing is ours, unlike a field of which nothing is named, is not ours.
    match (intent, own.as_object().filter(|own| !own.is_empty())) {
        (Value::Object(intent), Some(own)) => search.fields(intent, Some(held), Some(own)),
        _ => search.found(intent, Some(held)),
    }
}

/// The set of a field within the set of its object.
pub(crate) fn field<'a>(key: &str, set: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
    set.get(&format!("f:{key}")).and_then(Value::as_object)
}

struct Search<'a, 'f> {
    path: Vec<Step<'a>>,
    found: &'f mut Found<'f, 'a>,
}

type Set<'s> = Option<&'s Map<String, Value>>;

impl<'a> Search<'a, '_> {
    fn value(&mut self, wanted: &'a Value, actual: Option<&Value>, own: Set<'_>) {
        match (wanted, own) {
            // All fields of it may have been taken, or it has one owner as a whole: us.
            (Value::Object(map), Some(own)) if own.is_empty() && !map.is_empty() => {
                if !actual.is_some_and(|actual| is_within(wanted, actual)) {
                    self.fields(map, actual, None);
                }
            }
            // A leaf, or a list that has one owner as a whole.
            (_, Some(own)) if own.is_empty() => {}
            (Value::Object(map), own) if !map.is_empty() => self.fields(map, actual, own),
            // A list of items with owners of their own has no place in a set if it is empty.
            (Value::Array(items), None) if items.is_empty() && is_empty_list(actual) => {}
            (Value::Array(items), own) if own.is_some() || items.iter().any(Value::is_object) => {
                self.items(items, actual, own);
            }
            _ => self.found(wanted, actual),
        }
    }

    fn fields(&mut self, wanted: &'a Map<String, Value>, actual: Option<&Value>, own: Set<'_>) {
        for (key, wanted) in wanted {
            self.path.push(Step::Field(key));
            if !is_address(&self.path) {
                let actual = actual.and_then(|actual| actual.get(key));
                self.value(wanted, actual, own.and_then(|own| field(key, own)));
            }
            self.path.pop();
        }
    }

    fn items(&mut self, wanted: &'a [Value], actual: Option<&Value>, own: Set<'_>) {
        let entries = own.map(Entries::of).unwrap_or_default();
        let actual = actual.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let places = entries.find(wanted, actual);
        for ((item, place), own) in wanted.iter().zip(places).zip(entries.assign(wanted)) {
            self.path.push(Step::Item(item, entries.name(item)));
            match (place, own) {
                (Some(place), own) => self.value(item, Some(&actual[place]), own),
                (None, Some(own)) => self.value(item, None, Some(own)),
                (None, None) => self.found(item, actual.iter().find(|actual| *actual == item)),
            }
            self.path.pop();
        }
    }

    fn found(&mut self, wanted: &'a Value, actual: Option<&Value>) {
        (self.found)(&self.path, wanted, actual);
    }
}

/// What says which object it is belongs to nobody.
fn is_address(path: &[Step<'_>]) -> bool {
    matches!(
        path,
        [Step::Field("apiVersion" | "kind")]
            | [Step::Field("metadata"), Step::Field("name" | "namespace")]
    )
}

fn is_empty_list(value: Option<&Value>) -> bool {
    value.is_none_or(|value| value.is_null() || value.as_array().is_some_and(Vec::is_empty))
}
