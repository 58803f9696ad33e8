//! Runs the author's code in a task of its own: a panic ends there, a deadline aborts it, and one that
//! blocks its thread is told by name until it ends.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tracing::{Instrument as _, Span, error};

use crate::held::Held;
use crate::outcome::Retry;
use crate::queue::Finish;
use crate::reason::Reason;
use crate::reconciler::{Ended, Failed};
use crate::worker::passes::Seat;
use crate::worker::{Worker, key_of};

/// An aborted pass ends at its next await; one that has not by then blocks its thread.
const GRACE: Duration = Duration::from_secs(2);

impl Worker {
    /// One run of the author's code. Fails only if that still runs.
    pub(super) async fn attempt(self: &Arc<Self>, held: &Arc<Held>) -> Result<Ended, Failed> {
        let seat = match self.passes.seat().await {
            Ok(seat) => seat,
            Err(error) => {
                return Ok(ended(
                    Reason::ReconcileFailed,
                    format!("there is no thread for the reconcile: {error}"),
                ));
            }
        };
        let pass = self.reconciler.clone().pass(held.clone());
        let mut task = seat.handle().spawn(pass.instrument(Span::current()));
        if let Ok(joined) = tokio::time::timeout(self.deadline, &mut task).await {
            self.passes.free(seat);
            return Ok(joined.unwrap_or_else(|error| {
                self.metrics.panicked();
                let message =
                    error.try_into_panic().map_or_else(|_| String::new(), |panic| said(&*panic));
                ended(Reason::Panicked, format!("the reconcile panicked: {message}"))
            }));
        }
        self.metrics.timed_out();
        task.abort();
        if tokio::time::timeout(GRACE, &mut task).await.is_ok() {
            self.passes.free(seat);
            let message = format!("the reconcile was not over after {:?}", self.deadline);
            return Ok(ended(Reason::TimedOut, message));
        }
        let message =
            format!("the reconcile blocks its thread and was not over after {:?}", self.deadline);
        error!(message);
        self.wait_for(task, seat, held);
        Err(failed(Reason::TimedOut, message))
    }

    /// The object and its thread stay taken until its pass has ended, because two at a time may never be.
    fn wait_for(self: &Arc<Self>, task: JoinHandle<Ended>, seat: Seat, held: &Arc<Held>) {
        let (worker, key) = (self.clone(), key_of(held));
        let mark = self.blocked.mark(&self.name, &key);
        tokio::spawn(async move {
            let _ = task.await;
            drop((mark, seat)); // its thread counts for as long as it is blocked
            worker.queue.finish(&key, Finish::Retry);
        });
    }
}

fn ended(reason: Reason, message: String) -> Ended {
    Ended::failed(failed(reason, message))
}

fn failed(reason: Reason, message: String) -> Failed {
    Failed { retry: Retry::Backoff, reason: reason.as_str().into(), message }
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
