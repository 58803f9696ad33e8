//! The loop that gets the lease, keeps it and gives it back. Owns no rule: `record` says what to do
//! about what is read, `leadership` how long it is good for.

mod release;

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use super::identity::jittered;
use super::leadership::{Leadership, Shared};
use super::news::News;
use super::record::{self, Decision, Observation, Role, decide};
use super::request::{Leases, RequestError};
use super::{LeaseError, Loss, Timing};

/// What came of one attempt to get or to keep the lease.
enum Attempt {
    /// It is ours, by a request that was sent at this time.
    Held { sent: Instant },
    /// It is another's, and cannot be free before this time.
    Refused { until: Instant },
    /// Somebody wrote the record between our look and our write.
    Overtaken,
    /// It was ours and is another's.
    TakenBy { holder: String },
}

/// One candidate for one lease.
pub(crate) struct Election {
    leases: Leases,
    identity: String,
    timing: Timing,
    shared: Arc<Shared>,
    role: Role,
    /// The lease as our last write left it, which the next renewal builds on without a look.
    mine: Option<Lease>,
    observation: Option<Observation>,
    trouble: Option<RequestError>,
    news: News,
}

impl Election {
    /// A candidate that does nothing until it [runs](Self::run).
    pub(crate) fn new(
        client: kube::Client,
        namespace: String,
        name: String,
        identity: String,
        timing: Timing,
    ) -> Self {
        Self {
            leases: Leases::new(client, namespace, name),
            identity,
            timing,
            shared: Arc::new(Shared::new(timing)),
            role: Role::Standby,
            mine: None,
            observation: None,
            trouble: None,
            news: News::default(),
        }
    }

    /// What the rest of the program asks before it writes.
    pub(crate) fn leadership(&self) -> Leadership {
        Leadership::of(&self.shared)
    }

    /// Gets and keeps the lease until `stop` resolves, which must be after the last write of this
    /// process; then gives it back. Fails when leadership is lost: the process must exit then.
    pub(crate) async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), LeaseError> {
        info!(lease = %self.leases, identity = self.identity, "attempting to acquire the lease");
        let mut stop = pin!(stop);
        loop {
            self.check_deadline()?;
            let begun = Instant::now();
            let attempt = tokio::select! {
                biased;
                () = &mut stop => break,
                attempt = self.attempt() => attempt,
            };
            let next = self.settle(begun, attempt)?;
            let (limit, is_standby) = (self.limit(), self.role == Role::Standby);
            let told = self.news.are_told();
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = sleep_until(next) => if told {
                    self.news.end(); // it would have told of something by now, were it alive
                },
                () = self.news.changed(&self.leases, limit), if is_standby => {}
            }
        }
        self.release().await;
        Ok(())
    }

    /// In the common case of a leader one request; of a standby one for every renewal that it sees.
    async fn attempt(&mut self) -> Result<Attempt, RequestError> {
        if let Some(mine) = self.mine.clone() {
            match self.hold(record::renewed(mine, &self.identity, &self.timing)).await? {
                Attempt::Overtaken => self.mine = None,
                attempt => return Ok(attempt),
            }
        }
        let seen = self.leases.read(self.limit()).await?;
        self.news.read(seen.as_ref().and_then(ResourceExt::resource_version));
        match self.look_at(seen.as_ref()) {
            Decision::Wait(until) => {
                self.role = Role::Standby;
                Ok(Attempt::Refused { until })
            }
            Decision::Lost(holder) => Ok(Attempt::TakenBy { holder }),
            Decision::Create => {
                self.hold(record::created(self.leases.name(), &self.identity, &self.timing)).await
            }
            Decision::Take => {
                let lease = seen.unwrap_or_default();
                self.hold(record::taken(lease, &self.identity, &self.timing)).await
            }
            Decision::Renew => {
                let lease = seen.unwrap_or_default();
                self.hold(record::renewed(lease, &self.identity, &self.timing)).await
            }
        }
    }

    fn look_at(&mut self, seen: Option<&Lease>) -> Decision {
        let now = Instant::now();
        let record = seen.map(|lease| lease.spec.clone().unwrap_or_default());
        let before = self.observation.take();
        let observation = Observation::next(before, record, now, self.timing.lease_duration);
        let holder = observation.holder().to_owned();
        let decision = decide(&observation, self.role, &self.identity, now);
        self.observation = Some(observation);
        if self.shared.observed(&holder) && !holder.is_empty() && holder != self.identity {
            info!(lease = %self.leases, holder, "another leads");
        }
        decision
    }

    /// Writes a record that names us.
    async fn hold(&mut self, lease: Lease) -> Result<Attempt, RequestError> {
        if self.role == Role::Standby {
            self.role = Role::Claimed;
        }
        let sent = Instant::now();
        match self.leases.write(&lease, self.limit()).await {
            Ok(lease) => {
                self.mine = Some(lease);
                Ok(Attempt::Held { sent })
            }
            Err(error) if error.is_outdated() => Ok(Attempt::Overtaken),
            Err(error) => Err(error),
        }
    }

    fn limit(&self) -> Duration {
        let left = self.shared.deadline().map(|end| end.saturating_duration_since(Instant::now()));
        request_limit(left, &self.timing)
    }

    /// Publishes what came of an attempt and says when to make the next one.
    fn settle(
        &mut self,
        begun: Instant,
        attempt: Result<Attempt, RequestError>,
    ) -> Result<Instant, LeaseError> {
        let next = match attempt {
            Ok(Attempt::Held { sent }) => {
                self.held(sent)?;
                sent + self.timing.renew_every
            }
            Ok(Attempt::Refused { until }) => {
                self.completed();
                let look = Instant::now() + jittered(self.timing.retry_every);
                if self.news.are_told() { until } else { until.min(look) }
            }
            Ok(Attempt::Overtaken) => {
                self.completed();
                begun + self.timing.retry_every
            }
            Ok(Attempt::TakenBy { holder }) => return Err(self.lost(Loss::TakenBy { holder })),
            Err(error) => {
                if self.trouble.is_none() {
                    let error = &error as &dyn Error;
                    warn!(lease = %self.leases, error, "cannot get or renew the lease; retrying");
                }
                self.trouble = Some(error);
                begun + self.timing.retry_every
            }
        };
        Ok(self.shared.deadline().map_or(next, |deadline| next.min(deadline)))
    }

    fn held(&mut self, sent: Instant) -> Result<(), LeaseError> {
        if !self.shared.renewed(sent, &self.identity) {
            return self.check_deadline();
        }
        self.completed();
        if self.role != Role::Leader {
            self.role = Role::Leader;
            info!(lease = %self.leases, identity = self.identity, "acquired the lease");
        }
        Ok(())
    }

    fn completed(&mut self) {
        self.trouble = None;
        self.shared.completed();
    }

    fn check_deadline(&mut self) -> Result<(), LeaseError> {
        if self.shared.deadline().is_none_or(|deadline| Instant::now() < deadline) {
            return Ok(());
        }
        let renew_deadline = self.timing.renew_deadline;
        let source = self.trouble.take();
        Err(self.lost(Loss::NotRenewed { renew_deadline, source }))
    }

    fn lost(&self, reason: Loss) -> LeaseError {
        self.shared.lost();
        let error = LeaseError::Lost { lease: self.leases.to_string(), reason };
        warn!(identity = self.identity, error = &error as &dyn Error, "stopped leading");
        error
    }
}

/// How long a request may take, for a leader with so much time left until its deadline. An answer that
/// never comes, as on a connection to a machine that has died, must leave time for another attempt; one
/// that only takes long must not be given up for that, or nothing is ever renewed.
fn request_limit(left: Option<Duration>, timing: &Timing) -> Duration {
    let Some(left) = left else { return timing.renew_deadline / 2 };
    left.saturating_sub(timing.retry_every).max(timing.retry_every).min(left)
}

#[cfg(test)]
mod tests;
