//! Leader election on a `coordination.k8s.io/v1` Lease, by the rules of client-go, so that programs
//! in Go and this one may compete for the same Lease. Owns its times and its errors; `election` gets,
//! keeps and gives back the lease, `record` decides what a record means, `leadership` tells who may
//! write now.
//!
//! ```text
//! request sent        renew deadline       lease over
//!      |--- may write ------|--- nobody -------|--- a standby may take it ---
//! ```
//!
//! # Guarantees
//! - Leading ends by the monotonic clock of this process, no matter whether the loop, its timers or
//!   the API server are alive.
//! - Leadership that has ended does not come back: the process must exit.
//! - No clock of another machine is trusted, and every write carries a resourceVersion.
//!
//! # Assumptions
//! - Identities are unique.
//! - The monotonic clock runs while the process is stopped. It stands still while the whole machine
//!   is suspended, which no election without fencing survives.
//!
//! # Caveats
//! - A person who deletes the Lease while a leader lives can let a candidate that starts at that
//!   moment lead too, until the old leader's next renewal. Candidates that saw the record wait.

mod election;
mod identity;
mod leadership;
mod news;
mod record;
mod request;

use std::time::Duration;

pub(crate) use self::election::Election;
pub(crate) use self::identity::identity;
pub(crate) use self::leadership::Leadership;
pub(crate) use self::request::RequestError;

/// Timing of the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    /// How long the others leave a lease alone that is not renewed.
    pub(crate) lease_duration: Duration,
    /// How long a leader that cannot renew goes on.
    pub(crate) renew_deadline: Duration,
    /// How often a leader renews.
    pub(crate) renew_every: Duration,
    /// How long to wait after a failure, and at least between two looks at another's lease.
    pub(crate) retry_every: Duration,
}

impl Default for Timing {
    /// The lease and the retries of client-go. It renews every 2 s; 5 s leave time for two attempts, at less
    /// than half of the requests. Its deadline is 10 s, because its writes go on after it; ours end with
    /// the lease. At 13 s an API server that takes 5 s for each answer costs nobody the lease: a renewal that
    /// is sent 5 s after the one before it has 6 s, and 2 s are left for another on a new connection.
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(13),
            renew_every: Duration::from_secs(5),
            retry_every: Duration::from_secs(2),
        }
    }
}

/// What ends an election.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    /// Another may lead now or soon; this process must end.
    #[error("leadership by lease {lease} is lost")]
    Lost {
        /// Namespace and name of the lease.
        lease: String,
        /// What happened to it.
        #[source]
        reason: Loss,
    },
}

/// Why leadership ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Loss {
    /// The record names somebody else.
    #[error("{holder} holds it")]
    TakenBy {
        /// Who.
        holder: String,
    },
    /// No renewal succeeded in time, or this process was stopped for so long.
    #[error("it was not renewed for {renew_deadline:?}")]
    NotRenewed {
        /// How long a leader may go on without.
        renew_deadline: Duration,
        /// Why the last attempt failed, if one did.
        #[source]
        source: Option<RequestError>,
    },
}
