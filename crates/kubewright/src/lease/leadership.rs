//! Who may write right now. Every answer is computed from the monotonic clock at the moment of the
//! question, so that it is right even if no timer has fired since this process was stopped.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Timing;

/// Shared, cheap to clone: who asks it may write right now.
#[derive(Clone)]
pub(crate) struct Leadership {
    /// None where no election is held.
    shared: Option<Arc<Shared>>,
}

/// What the election publishes and all [`Leadership`]s read.
pub(super) struct Shared {
    timing: Timing,
    state: watch::Sender<State>,
}

struct State {
    standing: Standing,
    /// When the loop last heard of the lease.
    completed: Instant,
    holder: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Standing {
    Standby,
    /// By a renewal that was sent at this time.
    Leading {
        renewed: Instant,
    },
    Lost,
    Released,
}

impl Leadership {
    /// Without an election: always leading, without a limit.
    pub(crate) fn always() -> Self {
        Self { shared: None }
    }

    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        Self { shared: Some(Arc::clone(shared)) }
    }

    /// How long a write that is sent now may take: until another can lead. `None` if we do not lead,
    /// and already from the renew deadline on.
    pub(crate) fn may_write(&self) -> Option<Duration> {
        let Some(shared) = &self.shared else { return Some(Duration::MAX) };
        let renewed = shared.leading_since_renewal()?;
        let now = Instant::now();
        let is_in_time = now < renewed + shared.timing.renew_deadline;
        is_in_time.then(|| (renewed + shared.timing.lease_duration).saturating_duration_since(now))
    }

    /// True if a write may be sent now.
    pub(crate) fn is_leading(&self) -> bool {
        self.may_write().is_some()
    }

    /// Resolves when we lead.
    pub(crate) async fn until_leading(&self) {
        let Some(shared) = &self.shared else { return };
        let mut states = shared.state.subscribe();
        while !self.is_leading() {
            // The sender lives in `shared`: there is always a change to wait for.
            let _ = states.changed().await;
        }
    }

    /// Resolves when leadership that was held is lost; never before it was held, nor because it was
    /// given back in order.
    pub(crate) async fn until_lost(&self) {
        let Some(shared) = &self.shared else { return std::future::pending().await };
        let mut states = shared.state.subscribe();
        loop {
            let standing = states.borrow_and_update().standing;
            match standing {
                Standing::Lost => return,
                Standing::Standby | Standing::Released => {
                    let _ = states.changed().await;
                }
                Standing::Leading { renewed } => {
                    let deadline = renewed + shared.timing.renew_deadline;
                    if Instant::now() >= deadline {
                        return;
                    }
                    tokio::select! {
                        () = sleep_until(deadline) => {}
                        _ = states.changed() => {}
                    }
                }
            }
        }
    }

    /// False if the election has heard nothing of the lease for longer than any single failure lasts:
    /// its loop is dead or the API server is out of reach.
    pub(crate) fn is_alive(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| {
            let limit = shared.timing.lease_duration + shared.timing.renew_deadline;
            shared.state.borrow().completed.elapsed() <= limit
        })
    }

    /// The holder that was seen last, for logs.
    pub(crate) fn holder(&self) -> Option<String> {
        self.shared.as_ref()?.state.borrow().holder.clone()
    }
}

impl Shared {
    pub(super) fn new(timing: Timing) -> Self {
        let state = State { standing: Standing::Standby, completed: Instant::now(), holder: None };
        Self { timing, state: watch::Sender::new(state) }
    }

    fn leading_since_renewal(&self) -> Option<Instant> {
        match self.state.borrow().standing {
            Standing::Leading { renewed } => Some(renewed),
            Standing::Standby | Standing::Lost | Standing::Released => None,
        }
    }

    /// Until when a leader may go on without a renewal.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.leading_since_renewal().map(|renewed| renewed + self.timing.renew_deadline)
    }

    /// A request that was sent at `sent` made the lease ours. False if that is too late to matter.
    pub(super) fn renewed(&self, sent: Instant, identity: &str) -> bool {
        // The clock is read under the lock: once somebody was told that leading is over, it is.
        self.state.send_if_modified(|state| {
            let counts_from = match state.standing {
                Standing::Leading { renewed } => renewed,
                Standing::Standby => sent,
                Standing::Lost | Standing::Released => return false,
            };
            let is_in_time = Instant::now() < counts_from + self.timing.renew_deadline;
            if is_in_time {
                state.standing = Standing::Leading { renewed: sent };
                state.holder = Some(identity.to_owned());
            }
            is_in_time
        })
    }

    /// The API server answered about the lease.
    pub(super) fn completed(&self) {
        self.state.send_if_modified(|state| {
            state.completed = Instant::now();
            false // nobody waits for this
        });
    }

    /// True if `holder` is not the one that was seen before.
    pub(super) fn observed(&self, holder: &str) -> bool {
        let holder = Some(holder.to_owned()).filter(|holder| !holder.is_empty());
        let mut differs = false;
        self.state.send_if_modified(|state| {
            differs = state.holder != holder;
            state.holder = holder;
            false // nobody waits for this
        });
        differs
    }

    pub(super) fn lost(&self) {
        self.state.send_modify(|state| state.standing = Standing::Lost);
    }

    pub(super) fn released(&self) {
        self.state.send_modify(|state| state.standing = Standing::Released);
    }
}

#[cfg(test)]
mod tests;
