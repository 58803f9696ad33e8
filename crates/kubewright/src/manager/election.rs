//! This instance's part in the election, if there is one.

use std::time::Duration;

use kube::Client;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::RunError;
use crate::lease::{Election, Leadership, LeaseError, Timing};
use crate::metrics::Metrics;

/// A candidate, or the only one.
pub(super) struct Candidate {
    pub(super) leadership: Leadership,
    /// What ends the election in good order, and its end; none without an election.
    running: Option<(oneshot::Sender<()>, Ending)>,
}

type Ending = JoinHandle<Result<(), LeaseError>>;

impl Candidate {
    /// Leads always.
    pub(super) fn unopposed() -> Self {
        Self { leadership: Leadership::always(), running: None }
    }

    /// Stands for election by the Lease of this namespace and name.
    pub(super) fn stand(
        client: Client,
        (namespace, lease): (String, &str),
        identity: String,
        metrics: &Metrics,
    ) -> Self {
        let election =
            Election::new(client, namespace, lease.to_owned(), identity, Timing::default());
        let leadership = election.leadership();
        let watched = leadership.clone();
        metrics.leader(lease, move || watched.is_leading());
        let (stop, stopped) = oneshot::channel();
        let ending = tokio::spawn(election.run(async { drop(stopped.await) }));
        Self { leadership, running: Some((stop, ending)) }
    }

    /// Resolves when leadership that was held is lost.
    pub(super) async fn until_lost(&mut self) -> RunError {
        let Some((_, ending)) = &mut self.running else { return std::future::pending().await };
        // By its own clock, should the election itself hang; but the election knows why.
        let leadership = self.leadership.clone();
        let hung = async {
            leadership.until_lost().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        let ended = tokio::select! {
            ended = ending => ended,
            () = hung => return RunError::ElectionEnded,
        };
        self.running = None;
        match ended {
            Ok(Err(error)) => RunError::Election(Box::new(error)),
            Ok(Ok(())) => RunError::ElectionEnded,
            Err(panic) => RunError::Election(Box::new(panic)),
        }
    }

    /// Gives the lease back, if it is held.
    pub(super) async fn release(&mut self) {
        if let Some((stop, ending)) = self.running.take() {
            let _ = stop.send(());
            let _ = timeout(Duration::from_secs(3), ending).await;
        }
    }
}
