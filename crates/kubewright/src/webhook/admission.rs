//! Admission reviews, from the bytes of a request to the bytes of the answer. Pure, but for the author's code.

use kube::Resource;
use kube::core::Status;
use kube::core::admission::AdmissionResponse;
use kube::core::gvk::GroupVersionKind;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::hook::Unreadable;
use super::{Default, Operation, Request, Validate, Verdict, patch};
use crate::kind::Kind;

#[derive(Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

/// What can be read of any request, whatever its object is.
#[derive(Deserialize)]
struct Outline<'a> {
    uid: String,
    kind: GroupVersionKind,
    operation: Operation,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
}

/// What can be read of any object, whatever its kind is.
#[derive(Deserialize)]
struct Mortal {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    deletion_timestamp: Option<IgnoredAny>,
}

impl Outline<'_> {
    /// What is being deleted only loses finalizers, and nothing may hold that up, not even that it does not fit its
    /// type any more. The generated configurations do not even ask; those that OLM makes cannot say so.
    fn is_going(&self) -> bool {
        let going = |object: &RawValue| {
            serde_json::from_str::<Mortal>(object.get())
                .is_ok_and(|object| object.metadata.deletion_timestamp.is_some())
        };
        self.operation == Operation::Update && self.object.is_some_and(going)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: AdmissionResponse,
}

/// The answer of the validating webhook of `K`.
pub(super) fn validate<K: Validate>(body: &[u8]) -> Result<Vec<u8>, Unreadable> {
    answer(body, |request: &Request<K>, _| {
        let deleted = request.operation == Operation::Delete;
        let object = if deleted { &request.old_object } else { &request.object };
        let mut verdict = Verdict::default();
        match object {
            Some(object) => object.validate(request, &mut verdict),
            None => return refused(request, "there is no object in the request"),
        }
        verdict.into_response(request)
    })
}

/// The answer of the mutating webhook of `K`.
pub(super) fn set_defaults<K: Default>(body: &[u8]) -> Result<Vec<u8>, Unreadable> {
    answer(body, |request: &Request<K>, sent| {
        let (Some(object), Some(sent)) = (&request.object, sent) else {
            return refused(request, "there is no object in the request");
        };
        let mut changed = object.clone();
        changed.set_defaults(request);
        patched(request, sent, object, changed)
            .unwrap_or_else(|error| refused(request, &error.to_string()))
    })
}

fn patched<K: Kind>(
    request: &Request<K>,
    sent: &RawValue,
    before: &K,
    after: K,
) -> Result<AdmissionResponse, Box<dyn std::error::Error>> {
    let before = serde_json::to_string(before)?;
    let after = {
        let after = after; // may be large, and ends here
        serde_json::to_string(&after)?
    };
    let changes = patch::changes(sent.get(), &before, &after)?;
    let response = AdmissionResponse::from(request);
    if changes.is_empty() {
        return Ok(response);
    }
    Ok(response.with_patch(serde_json::from_value(Value::Array(changes))?)?)
}

/// Reads the request, lets `decide`, and writes what it says. A request about something else, or about an
/// object that does not fit its type, is refused in the way that the API server passes on to people.
fn answer<K: Kind>(
    body: &[u8],
    decide: impl FnOnce(&Request<K>, Option<&RawValue>) -> AdmissionResponse,
) -> Result<Vec<u8>, Unreadable> {
    let review: Review<'_> = serde_json::from_slice(body).map_err(Unreadable::Json)?;
    let request = review.request.ok_or(Unreadable::Empty)?.get();
    let outline: Outline<'_> = serde_json::from_str(request).map_err(Unreadable::Json)?;
    let is_going = outline.is_going();
    let Outline { uid, kind, operation, object } = outline;
    if kind.group != K::group(&()) || kind.kind != K::kind(&()) || kind.version != K::version(&()) {
        let told = format!("this webhook is of {}, not of {}", named::<K>(), shown(&kind));
        return written(unusable(uid, &told));
    }
    if is_going {
        return written(allowed(uid));
    }
    match serde_json::from_str::<Request<K>>(request) {
        Ok(request) => written(decide(&request, object)),
        Err(error) => {
            let told = format!("the object cannot be read as {}: {error}", named::<K>());
            if operation == Operation::Delete {
                // It could never go otherwise.
                let mut response = allowed(uid);
                response.warnings = Some(vec![format!("{told}; its deletion is not looked at")]);
                return written(response);
            }
            written(unusable(uid, &told))
        }
    }
}

fn written(response: AdmissionResponse) -> Result<Vec<u8>, Unreadable> {
    let answer = Answer { api_version: "admission.k8s.io/v1", kind: "AdmissionReview", response };
    serde_json::to_vec(&answer).map_err(Unreadable::Json)
}

fn refused<K: Kind>(request: &Request<K>, why: &str) -> AdmissionResponse {
    unusable(request.uid.clone(), why)
}

fn unusable(uid: String, why: &str) -> AdmissionResponse {
    let mut response = AdmissionResponse::invalid(why);
    response.uid = uid;
    response.result = Status::failure(why, "BadRequest").with_code(400);
    response
}

fn allowed(uid: String) -> AdmissionResponse {
    let mut response = AdmissionResponse::invalid("");
    (response.uid, response.allowed) = (uid, true);
    response.result = Status::default();
    response
}

fn named<K: Resource<DynamicType = ()>>() -> String {
    format!("{}/{} {}", K::group(&()), K::version(&()), K::kind(&()))
}

fn shown(kind: &GroupVersionKind) -> String {
    format!("{}/{} {}", kind.group, kind.version, kind.kind)
}

/// The words of the API server for what a rule is about.
pub(super) fn operations(of: &[Operation]) -> Vec<String> {
    of.iter().filter_map(|one| json!(one).as_str().map(str::to_owned)).collect()
}
