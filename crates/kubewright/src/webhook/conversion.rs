//! Conversion reviews, from the bytes of a request to the bytes of the answer. Pure, but for the author's code.
//!
//! Objects are decoded one by one from the text of the request: a list of thousands is never held as a tree.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::convert::Spoke;
use super::hook::Unreadable;
use crate::kind::Primary;

#[derive(Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Option<Request<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    #[serde(borrow)]
    objects: Vec<&'a RawValue>,
}

/// What an object says of itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    api_version: String,
    kind: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: String,
    result: Outcome,
    converted_objects: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

/// Why an object cannot be converted.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("this webhook converts {expected}, not {found}")]
    Kind { expected: String, found: String },
    #[error("there is no version {0}")]
    Version(String),
    #[error("object {number} does not fit {version}: {source}")]
    Object { number: usize, version: String, source: serde_json::Error },
}

/// The answer about objects of `P` and of its other versions.
pub(super) fn convert<P: Primary>(spokes: &[Spoke<P>], body: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let review: Review<'_> = serde_json::from_slice(body).map_err(Unreadable::Json)?;
    let Request { uid, desired, objects } = review.request.ok_or(Unreadable::Empty)?;
    let converted: Result<Vec<_>, _> = objects
        .iter()
        .enumerate()
        .map(|(number, object)| one(spokes, number, object, &desired))
        .collect();
    let (result, converted_objects) = match converted {
        Ok(objects) => (Outcome { status: "Success", message: String::new() }, objects),
        Err(failed) => (Outcome { status: "Failure", message: failed.to_string() }, Vec::new()),
    };
    let response = Response { uid, result, converted_objects };
    let answer =
        Answer { api_version: "apiextensions.k8s.io/v1", kind: "ConversionReview", response };
    serde_json::to_vec(&answer).map_err(Unreadable::Json)
}

/// One object, by way of the stored version.
fn one<P: Primary>(
    spokes: &[Spoke<P>],
    number: usize,
    object: &RawValue,
    desired: &str,
) -> Result<Box<RawValue>, Failed> {
    let text = object.get();
    let unfit = |version: &str| {
        let version = version.to_owned();
        move |source| Failed::Object { number, version, source }
    };
    let head: Head = serde_json::from_str(text).map_err(unfit("any version"))?;
    if head.kind != P::kind(&()) {
        return Err(Failed::Kind { expected: P::kind(&()).into_owned(), found: head.kind });
    }
    if head.api_version == desired
        && (desired == P::api_version(&()) || spoke(spokes, desired).is_ok())
    {
        return Ok(object.to_owned()); // with what its type does not know
    }
    let hub: P = if head.api_version == P::api_version(&()) {
        serde_json::from_str(text).map_err(unfit(&head.api_version))?
    } else {
        (spoke(spokes, &head.api_version)?.to_hub)(text).map_err(unfit(&head.api_version))?
    };
    if desired == P::api_version(&()) {
        to_raw_value(&hub).map_err(unfit(desired))
    } else {
        (spoke(spokes, desired)?.from_hub)(hub).map_err(unfit(desired))
    }
}

fn spoke<'a, P>(spokes: &'a [Spoke<P>], version: &str) -> Result<&'a Spoke<P>, Failed> {
    let found = spokes.iter().find(|spoke| spoke.api_version == version);
    found.ok_or_else(|| Failed::Version(version.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::jugs::{Jug, OldJug};
    use super::*;

    fn answered(desired: &str, object: &Value) -> Value {
        let request = json!({"uid": "1", "desiredAPIVersion": desired, "objects": [object]});
        let body = json!({"request": request}).to_string();
        let answer = convert::<Jug>(&[Spoke::of::<OldJug>()], body.as_bytes()).unwrap();
        serde_json::from_slice::<Value>(&answer).unwrap()["response"].take()
    }

    #[test]
    fn what_has_the_version_already_is_not_touched() {
        for version in ["test.kubewright.dev/v1", "test.kubewright.dev/v1alpha1"] {
            let object = json!({
                "apiVersion": version, "kind": "Jug", "metadata": {"name": "a"},
                "spec": {"litres": 1, "unknown": {"to": "the type"}},
            });
            assert_eq!(answered(version, &object)["convertedObjects"], json!([object]));
        }
        let version = "test.kubewright.dev/v9";
        let object = json!({"apiVersion": version, "kind": "Jug"});
        let said = answered(version, &object);
        assert_eq!(said["result"]["message"], "there is no version test.kubewright.dev/v9");
    }
}
