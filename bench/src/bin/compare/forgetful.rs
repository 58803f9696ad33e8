//! An API server that has forgotten where the watches of the operator in Go were.
//!
//! It reads built-in kinds as protobuf, in which the proxy cannot say so: such a watch only ends, and would
//! go on where it was.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use http::{Response, StatusCode};
use kubewright_bench::results::Subject;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};

const GONE: &str =
    r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}"#;

/// Answers the next watch of each kind with 410 if it wants to go on.
struct Forgetful(Mutex<HashSet<String>>);

/// Nothing for ours, whose watches are told.
pub(crate) fn forgetful(subject: Subject) -> Option<Arc<dyn Hook>> {
    (subject != Subject::Ours).then(|| Arc::new(Forgetful(Mutex::default())) as Arc<dyn Hook>)
}

impl Hook for Forgetful {
    fn request(&self, asked: &Asked) -> RequestFault {
        let goes_on = asked.query.contains("watch=")
            && asked.query.contains("resourceVersion=")
            && !asked.query.contains("sendInitialEvents=");
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !goes_on || !told.insert(asked.path.clone()) {
            return RequestFault::Pass;
        }
        let mut answer = Response::new(Bytes::from_static(GONE.as_bytes()));
        *answer.status_mut() = StatusCode::GONE;
        let json = http::HeaderValue::from_static("application/json");
        answer.headers_mut().insert(http::header::CONTENT_TYPE, json);
        RequestFault::Answer(answer)
    }
}
