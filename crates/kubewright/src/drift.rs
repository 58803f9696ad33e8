//! What somebody has changed of what is ours, for people: which field, what it should be, what it is, and
//! who owns it now. Decides nothing; whether something is to be done says [`crate::quiet`].

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::quiet::items::Entries;
use crate::quiet::same::is_within;
use crate::quiet::{self, Step};
use crate::raw::Raw;

/// A field of the intent that is not ours any more.
#[derive(Clone, Debug)]
pub(crate) struct Drift<'a> {
    /// Like `spec.template.spec.containers[name=x].image`.
    pub(crate) field: String,
    /// What it should be.
    pub(crate) expected: &'a Value,
    /// What it is, if it is there.
    pub(crate) actual: Option<Value>,
    path: Vec<Step<'a>>,
}

/// The fields of `intent` that are not in the set `own`. `held` is the object as it is. Fields that were
/// only taken over, with their value unchanged, are named if there is nothing else to name.
pub(crate) fn drifted<'a>(intent: &'a Value, held: &Value, own: &Value) -> Vec<Drift<'a>> {
    let (mut changed, mut taken) = (Vec::new(), Vec::new());
    quiet::search(intent, held, own, &mut |path, expected, actual| {
        let same = actual.is_some_and(|actual| is_within(expected, actual));
        let drifts = if same { &mut taken } else { &mut changed };
        let (field, path) = (name(path), path.to_vec());
        drifts.push(Drift { field, expected, actual: actual.cloned(), path });
    });
    if changed.is_empty() { taken } else { changed }
}

/// Which manager other than `ours` owns the field now. None if the field was removed: then nobody owns it.
pub(crate) fn manager_of(raw: &Raw, drift: &Drift<'_>, ours: &str) -> Option<String> {
    let owner = raw.field_owners().filter(|owner| owner.manager != ours).find(|owner| {
        let fields: Option<Value> = serde_json::from_str(owner.fields.get()).ok();
        fields.as_ref().and_then(Value::as_object).is_some_and(|set| owns(set, &drift.path))
    });
    owner.map(|owner| owner.manager.into_owned())
}

fn owns(set: &Map<String, Value>, path: &[Step<'_>]) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    let set = match step {
        Step::Field(key) => quiet::field(key, set),
        Step::Item(item, _) => Entries::all(set).assign(std::slice::from_ref(item))[0],
    };
    // An empty set is a list or map that has one owner as a whole.
    set.is_some_and(|set| set.is_empty() || owns(set, rest))
}

fn name(path: &[Step<'_>]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Field(key) if key.contains(['.', '/']) => format!("[{key}]"),
        Step::Field(key) => format!(".{key}"),
        Step::Item(_, name) => format!("[{name}]"),
    });
    steps.collect::<String>().trim_start_matches('.').to_owned()
}
