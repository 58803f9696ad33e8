//! Gives the lease back, so that another need not wait until it runs out.

use std::error::Error;
use std::time::Duration;

use tokio::time::timeout;
use tracing::{info, warn};

use super::Election;
use crate::lease::record::{self, Role};
use crate::lease::request::RequestError;

/// As long as a process that is told to end may be held up by a server that does not answer.
pub(super) const RELEASE_LIMIT: Duration = Duration::from_secs(2);

impl Election {
    pub(super) async fn release(mut self) {
        if self.role == Role::Standby {
            return;
        }
        self.shared.released();
        match timeout(RELEASE_LIMIT, self.give_back()).await {
            Ok(Ok(())) => {
                info!(lease = %self.leases, identity = self.identity, "released the lease");
            }
            Ok(Err(error)) => {
                let error = &error as &dyn Error;
                warn!(lease = %self.leases, error, "cannot release the lease; it will run out");
            }
            Err(_) => warn!(lease = %self.leases, "no answer to the release; it will run out"),
        }
    }

    /// Looks only if a renewal that was under way has come through, or somebody edited the lease.
    async fn give_back(&mut self) -> Result<(), RequestError> {
        if let Some(mine) = self.mine.clone() {
            match self.leases.write(&record::released(mine), RELEASE_LIMIT).await {
                Err(error) if error.is_outdated() => {}
                answer => return answer.map(drop),
            }
        }
        match self.leases.read(RELEASE_LIMIT).await? {
            Some(lease) if record::holder(lease.spec.as_ref()) == self.identity => {
                self.leases.write(&record::released(lease), RELEASE_LIMIT).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}
