//! The end for good: when the operator's own Deployment or namespace is being deleted, its finalizers come
//! off all objects, so that nobody waits for an operator that is not there any more.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::Manager;
use crate::home::{Home, Leaving};
use crate::lease::Leadership;
use crate::worker::Worker;

/// How long the finalizers may take when the operator is told to stop: what is left of the half minute
/// that a pod has by default.
const LIMIT: Duration = Duration::from_secs(20);
/// A finalizer whose putting on was under way is found by the next look.
const AGAIN: Duration = Duration::from_secs(1);

impl Manager {
    /// Watches the operator's own namespace, if the flags say that it has a Deployment there.
    pub(super) fn watch_home(&mut self, watches: Client, namespace: String) {
        let finalizes = self.finalizing.iter().any(|worker| worker.finalizer_wanted);
        let Some(deployment) = self.shared.flags.own_deployment.clone().filter(|_| finalizes)
        else {
            return;
        };
        let home = Home { client: self.client.clone(), namespace, deployment };
        self.home = Some(home.clone());
        let (leaving, leadership) = (self.shared.leaving.clone(), self.shared.leadership.clone());
        let workers = self.finalizing.clone();
        self.background.spawn(async move {
            home.until_going(&watches).await;
            leaving.begin();
            release_for_ever(&workers, &leadership).await;
        });
    }

    /// Asks whether this is the end for good, before anything is waited for. Only who leads can do
    /// something about it.
    pub(super) async fn is_leaving(&self) -> bool {
        let leaving: &Leaving = &self.shared.leaving;
        let Some(home) = self.home.as_ref().filter(|_| self.shared.leadership.is_leading()) else {
            return false;
        };
        if !leaving.has_begun() && home.is_deployment_going().await {
            info!(name = home.deployment, "the operator's own Deployment is deleted");
            leaving.begin();
        }
        leaving.has_begun()
    }

    /// Takes all finalizers off, while this instance still leads.
    pub(super) async fn leave(&self) {
        if timeout(LIMIT, release(&self.finalizing)).await.is_err() {
            warn!("not all finalizers were off after {LIMIT:?}");
        }
    }
}

/// Until the operator is told to stop: the namespace takes seconds to go.
async fn release_for_ever(workers: &[Arc<Worker>], leadership: &Leadership) {
    for worker in workers {
        worker.primary.until_synced().await;
    }
    loop {
        leadership.until_leading().await;
        release(workers).await;
        sleep(AGAIN).await;
    }
}

async fn release(workers: &[Arc<Worker>]) {
    for worker in workers {
        let released = worker.release_all().await;
        if released.removed > 0 || released.failed > 0 {
            let (kind, removed, failed) =
                (&worker.primary.kind.kind, released.removed, released.failed);
            info!(kind, removed, failed, "took the finalizers off: the operator is being removed");
        }
    }
}
