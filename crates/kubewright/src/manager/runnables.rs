//! Starts the author's own tasks when this instance leads, and says which of them failed.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::task::JoinSet;
use tracing::info;

use super::{Manager, RunError};
use crate::runnable::{BoxError, Runnables};
use crate::worker::said;

impl Manager {
    pub(super) fn add_runnables(&mut self, runnables: Runnables) {
        for (name, runnable) in runnables.into_iter() {
            let (leadership, client) = (self.shared.leadership.clone(), self.client.clone());
            self.runnables.spawn(async move {
                leadership.until_leading().await;
                info!(name, "starting");
                let run = AssertUnwindSafe(async { runnable.start(client).await }).catch_unwind();
                let result: Result<(), BoxError> =
                    run.await.unwrap_or_else(|panic| Err(said(&*panic).into()));
                result.map_err(|source| RunError::Runnable { name, source })
            });
        }
    }
}

/// The first that fails; those that end well are let go.
pub(super) async fn until_failed(runnables: &mut JoinSet<Result<(), RunError>>) -> RunError {
    while let Some(ended) = runnables.join_next().await {
        match ended {
            Ok(Ok(())) | Err(_) => {} // a panic was caught in the task
            Ok(Err(error)) => return error,
        }
    }
    std::future::pending().await
}
