//! A webhook as the operator keeps it: what it is for, and the code that answers, without its types.

use std::sync::Arc;

use kube::Resource;

use super::convert::Spoke;
use super::{Default, Operation, Validate, admission, conversion};
use crate::generate::webhook::{Purpose, Webhook};
use crate::kind::Primary;

/// From the body of a request to that of the answer.
pub(super) type Answer = Arc<dyn Fn(&[u8]) -> Result<Vec<u8>, Unreadable> + Send + Sync>;

/// Why there is no answer: the request is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the body is not a review")]
    Json(#[source] serde_json::Error),
    #[error("the review has no request")]
    Empty,
}

/// One webhook.
#[derive(Clone)]
pub(crate) struct Hook {
    pub(crate) about: Webhook,
    pub(super) answer: Answer,
}

impl Hook {
    pub(crate) fn validating<K: Validate>() -> Self {
        let about = about::<K>(Purpose::Validate, admission::operations(K::OPERATIONS));
        Self { about, answer: Arc::new(admission::validate::<K>) }
    }

    pub(crate) fn mutating<K: Default>() -> Self {
        let operations = admission::operations(&[Operation::Create, Operation::Update]);
        let about = about::<K>(Purpose::Mutate, operations);
        Self { about, answer: Arc::new(admission::set_defaults::<K>) }
    }

    pub(crate) fn converting<P: Primary>(spokes: Vec<Spoke<P>>) -> Self {
        let about = about::<P>(Purpose::Convert, Vec::new());
        let answer = move |body: &[u8]| conversion::convert(&spokes, body);
        Self { about, answer: Arc::new(answer) }
    }
}

fn about<K: Resource<DynamicType = ()>>(purpose: Purpose, operations: Vec<String>) -> Webhook {
    Webhook {
        purpose,
        group: K::group(&()).into_owned(),
        version: K::version(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        plural: K::plural(&()).into_owned(),
        operations,
    }
}
