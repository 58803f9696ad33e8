//! The record in the Lease: what it means to a candidate, and what a candidate writes. Pure but for
//! the wall clock, which others only compare and people read.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;
use tokio::time::Instant;

use super::Timing;
use crate::clock::Clock;

/// Where a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Another leads, or nobody.
    Standby,
    /// We wrote our name and may not have heard what came of it.
    Claimed,
    /// We lead.
    Leader,
}

/// What to do about the record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// There is none: write one.
    Create,
    /// Nobody's, or not renewed for its whole duration: write our name into it.
    Take,
    /// Another's; it cannot be free before this time.
    Wait(Instant),
    /// Ours: renew it.
    Renew,
    /// It was ours and this one holds it now.
    Lost(String),
}

/// A record and since when nothing about it changed, by our own clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    record: Option<LeaseSpec>,
    free_from: Instant,
}

impl Observation {
    /// What is known after `record` was read at `now`. A record without a usable duration counts as
    /// one of `lease_duration`.
    pub(super) fn next(
        before: Option<Self>,
        record: Option<LeaseSpec>,
        now: Instant,
        lease_duration: Duration,
    ) -> Self {
        let free_from = match (before, &record) {
            (Some(before), record) if before.record == *record => before.free_from,
            // A deleted lease does not end the leader who held it; he will write it again.
            (Some(before), None) => before.free_from,
            (None, None) => now,
            (_, Some(record)) if record.holder_identity.as_deref() == Some("") => now,
            (_, Some(record)) => now + duration(record).unwrap_or(lease_duration),
        };
        Self { record, free_from }
    }

    /// Whom the record names; empty for nobody.
    pub(super) fn holder(&self) -> &str {
        holder(self.record.as_ref())
    }
}

/// What a candidate does about what it sees.
pub(super) fn decide(
    observation: &Observation,
    role: Role,
    identity: &str,
    now: Instant,
) -> Decision {
    let holder = observation.holder();
    match (&observation.record, role) {
        (Some(_), Role::Leader | Role::Claimed) if holder == identity => Decision::Renew,
        (Some(_), Role::Leader) if !holder.is_empty() => Decision::Lost(holder.to_owned()),
        (Some(_), Role::Leader) => Decision::Renew,
        (None, Role::Leader) => Decision::Create,
        // Also for a record with our name that we did not write: a person did, and the old leader
        // has not seen it yet.
        _ if now < observation.free_from => Decision::Wait(observation.free_from),
        (None, _) => Decision::Create,
        (Some(_), _) => Decision::Take,
    }
}

/// Whom a record names; empty for nobody.
pub(super) fn holder(record: Option<&LeaseSpec>) -> &str {
    record.and_then(|record| record.holder_identity.as_deref()).unwrap_or_default()
}

fn duration(record: &LeaseSpec) -> Option<Duration> {
    let seconds = u64::try_from(record.lease_duration_seconds?).ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// A lease where there was none.
pub(super) fn created(name: &str, identity: &str, timing: &Timing) -> Lease {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    renewed(Lease { metadata, spec: None }, identity, timing)
}

/// The lease with us as its new holder.
pub(super) fn taken(mut lease: Lease, identity: &str, timing: &Timing) -> Lease {
    let spec = lease.spec.get_or_insert_default();
    if spec.holder_identity.as_deref() != Some(identity) {
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0).saturating_add(1));
    }
    spec.acquire_time = None;
    renewed(lease, identity, timing)
}

/// The lease with us as its holder, as before.
pub(super) fn renewed(mut lease: Lease, identity: &str, timing: &Timing) -> Lease {
    let now = MicroTime(Clock::system().now_micro());
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = Some(whole_seconds(timing.lease_duration));
    spec.lease_transitions.get_or_insert(0);
    spec.acquire_time.get_or_insert_with(|| now.clone());
    spec.renew_time = Some(now);
    lease
}

/// The lease without a holder, to be taken at once.
pub(super) fn released(mut lease: Lease) -> Lease {
    let now = MicroTime(Clock::system().now_micro());
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1); // zero is refused
    spec.acquire_time = Some(now.clone());
    spec.renew_time = Some(now);
    lease
}

/// Rounded up: the others must not wait shorter than we may lead.
fn whole_seconds(duration: Duration) -> i32 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
