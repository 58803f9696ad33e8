//! The condition `Degraded`: something is wrong that will not pass by itself.
//!
//! True, in this order, with: the reason of the error that ended the pass; `ReplicaFailure`; `Stalled`;
//! `PodFailing`. `Finalizing` for an object that is being deleted. Else False with `AsExpected`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::kube::ResourceExt as _;
use kubewright::rollout::Rollout;
use kubewright::{Failure as _, chain, conditions};
use memcached_api::condition::{ConditionType, Reason};
use memcached_api::v1alpha1::Memcached;

use crate::error::Error;
use crate::reconcile::gather::Observed;

pub(super) fn degraded(
    observed: &Observed,
    rollout: Option<&Rollout>,
    failure: Option<&Error>,
) -> Condition {
    let (reason, message) = if let Some(error) = failure {
        (error.reason().into_owned(), chain(error))
    } else if let Some(report) = rollout.and_then(|rollout| rollout.failure.as_ref()) {
        (Reason::ReplicaFailure.into(), report.clone())
    } else if let Some(report) = rollout.and_then(|rollout| rollout.stalled.as_ref()) {
        (Reason::Stalled.into(), report.clone())
    } else if let Some(report) = failing(observed) {
        (Reason::PodFailing.into(), report)
    } else {
        let message = "nothing is known to be wrong";
        return conditions::new(ConditionType::Degraded, false, Reason::AsExpected, message);
    };
    conditions::new(ConditionType::Degraded, true, reason, message)
}

pub(super) fn finalizing(memcached: &Memcached) -> Condition {
    let message = format!("{} is being deleted", memcached.name_any());
    conditions::new(ConditionType::Degraded, true, Reason::Finalizing, message)
}

/// The first pod that fails, and how many others do.
fn failing(observed: &Observed) -> Option<String> {
    let mut failing = observed.instances.iter().filter(|instance| instance.trouble.is_some());
    let first = failing.next()?;
    let trouble = first.trouble.as_deref().unwrap_or_default();
    Some(match failing.count() {
        0 => format!("pod {} {trouble}", first.name),
        others => format!("pod {} {trouble}; {others} more fail", first.name),
    })
}
