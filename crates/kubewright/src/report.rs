//! What the status of an object is to be after a pass, and writing it if it differs.
//!
//! The condition `Reconciled` is the library's: did the last pass succeed, and if not, why. All other
//! conditions are the author's; those of other managers are left alone.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Patch, PatchParams};
use serde::{Deserialize as _, Serialize};
use serde_json::{Map, Value};

use crate::conditions::{self, Status};
use crate::error::Error;
use crate::held::Held;
use crate::intent::drop_nulls;
use crate::key::Key;
use crate::pass::Asked;
use crate::reason::Reason;
use crate::reconciler::Failed;
use crate::status::is_settled;
use crate::store::{Arrival, Store};
use crate::write::{Request, Writer};

/// The type of the library's own condition.
pub const RECONCILED: &str = "Reconciled";

/// How a pass ended, as people are told.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) status: Status,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) message: String,
}

impl Verdict {
    pub(crate) fn success() -> Self {
        Self {
            status: Status::True,
            reason: Reason::Reconciled.as_str().into(),
            message: "everything was applied as the spec says".into(),
        }
    }

    pub(crate) fn failure(failed: &Failed) -> Self {
        let (reason, message) = (failed.reason.clone(), failed.message.clone());
        Self { status: Status::False, reason, message }
    }

    /// True if the object says so already.
    pub(crate) fn is_told_by(&self, held: &Held) -> bool {
        let told = conditions_of(&held.open().status());
        conditions::find(&told, RECONCILED).is_some_and(|condition| {
            condition.reason == self.reason && condition.status == self.status.as_str()
        })
    }
}

/// The status that is to be applied.
pub(crate) fn status(
    held: &Held,
    asked: Option<Asked>,
    verdict: &Verdict,
    now: Timestamp,
) -> Value {
    let opened = held.open();
    let before = opened.status();
    let Asked { mut rest, conditions: mut list } =
        asked.unwrap_or_else(|| said_before(&before, opened.own_status_fields().as_ref()));
    let reconciled = conditions::new(
        RECONCILED,
        verdict.status,
        verdict.reason.clone(),
        verdict.message.clone(),
    );
    conditions::set(&mut list, reconciled);
    conditions::settle(&mut list, &conditions_of(&before), held.generation(), now);
    if !rest.is_object() {
        rest = Value::Object(Map::new());
    }
    rest["conditions"] = serde_json::to_value(list).unwrap_or_default();
    drop_nulls(&mut rest); // an apply of null is refused where the schema does not allow it
    rest
}

/// What of a status is ours: a pass that says nothing changes nothing of it.
fn said_before(before: &Value, own: Option<&Value>) -> Asked {
    let own = own.and_then(|own| own.get("f:status"));
    let mut rest = own.map(|own| owned_part(before, own)).unwrap_or_default();
    let conditions = conditions_of(&rest);
    if let Value::Object(rest) = &mut rest {
        rest.remove("conditions");
    }
    Asked { rest, conditions }
}

/// The object that `status` is to be written to, as it is now, if it differs.
pub(crate) fn unsettled(store: &Store, uid: &str, key: &Key, status: &Value) -> Option<Arc<Held>> {
    // The newest: what it was computed from may have been written to since, by ourselves even.
    let held = store.get(key).filter(|held| held.uid() == uid)?;
    if !held.has_own_status() {
        return Some(held); // what others wrote is not ours, even if it reads the same
    }
    let opened = held.open();
    let now = opened.status();
    if now == *status {
        return None; // whose it is matters only where something differs
    }
    let own = opened.own_status_fields().unwrap_or_default();
    (!is_settled(status, &now, &own)).then_some(held)
}

/// A status on its way. Only borrowed: a copy of it is a hundred allocations.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: Version,
    status: &'a Value,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

/// Writes `status`. Answers with the object as it then is.
pub(crate) async fn write(
    writer: &Writer,
    store: &Arc<Store>,
    held: &Held,
    key: &Key,
    status: &Value,
) -> Result<Arc<Held>, Error> {
    // A wrong uid would be ignored here; the resourceVersion is not.
    let body = Body {
        api_version: &store.kind.api_version,
        kind: &store.kind.kind,
        metadata: Version { resource_version: held.version().to_string() },
        status,
    };
    let parameters = PatchParams::apply(&writer.manager).force();
    let patch = Patch::Apply(&body);
    let api = writer.api(store, key);
    let request = Request { verb: "patch", doing: "write the status of", kind: &store.kind, key };
    let mut mute = store.mute(key);
    let answer = writer.send(request, api.patch_status(key.name(), &parameters, &patch)).await?;
    mute.answered(answer.version());
    Ok(store.put(answer, Arrival::Own))
}

/// True if somebody changed more than the status between the two.
pub(crate) fn is_otherwise_changed(before: &Held, after: &Held) -> bool {
    let rest = |held: &Held| {
        let mut value = held.value();
        if let Value::Object(object) = &mut value {
            object.remove("status");
        }
        if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
            metadata.remove("resourceVersion");
            metadata.remove("managedFields");
        }
        value
    };
    before.uid() != after.uid() || rest(before) != rest(after)
}

/// The conditions in a status; one that does not fit is as good as none.
fn conditions_of(status: &Value) -> Vec<Condition> {
    let list = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|condition| Condition::deserialize(condition).ok()).collect()
}

/// The part of a value that a field set names.
fn owned_part(value: &Value, own: &Value) -> Value {
    let Some(fields) = own.as_object().filter(|fields| fields.keys().any(|key| key != ".")) else {
        return value.clone(); // a leaf
    };
    match value {
        Value::Object(object) => {
            let parts = object.iter().filter_map(|(name, value)| {
                let own = fields.get(&format!("f:{name}"))?;
                Some((name.clone(), owned_part(value, own)))
            });
            Value::Object(parts.collect())
        }
        Value::Array(items) => {
            let parts = items.iter().filter_map(|item| {
                let own =
                    fields.iter().find(|(key, _)| is_key_of(key, item)).map(|(_, own)| own)?;
                Some(owned_part(item, own))
            });
            Value::Array(parts.collect())
        }
        leaf => leaf.clone(),
    }
}

/// `k:{"type":"Ready"}` names the item with that type, `v:"x"` the item "x".
fn is_key_of(key: &str, item: &Value) -> bool {
    let (prefix, text) = key.split_at_checked(2).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    match (prefix, &value) {
        ("k:", Value::Object(keys)) => {
            keys.iter().all(|(name, value)| item.get(name) == Some(value))
        }
        ("v:", value) => value == item,
        _ => false,
    }
}
