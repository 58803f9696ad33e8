//! The condition `Available`: all instances that are wanted are ready.
//!
//! | wanted | ready | status | reason |
//! |---|---|---|---|
//! | 0 | any | True | `NoneWanted` |
//! | n | n or more | True | `AllReady` |
//! | n | fewer | False | `NotReady` |
//!
//! Not the Deployment's own condition of that name: with one instance that may be missing during a
//! rollout, that is true for a cache of one instance that has never started.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::conditions;
use memcached_api::condition::{ConditionType, Reason};

use crate::reconcile::gather::Observed;

pub(super) fn available(wanted: i32, observed: &Observed) -> Condition {
    let ready = observed.ready();
    let (holds, reason) = match (wanted, ready) {
        (0, _) => (true, Reason::NoneWanted),
        _ if ready >= wanted => (true, Reason::AllReady),
        _ => (false, Reason::NotReady),
    };
    let message = if wanted == 0 {
        "the size is 0: no instance is wanted".to_owned()
    } else {
        format!("{ready} of {wanted} instances are ready")
    };
    conditions::new(ConditionType::Available, holds, reason, message)
}
