//! Takes objects from the queue and brings each to the end of its pass: finalizer, reconcile, prune,
//! status. A pass that panics, hangs or blocks its thread costs its own object only.

mod attempt;
mod blocked;
mod leave;
mod lookup;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::{Instrument as _, debug, error, info, info_span, warn};

pub(crate) use attempt::said;
pub(crate) use blocked::Blocked;

use crate::clock::Clock;
use crate::conditions::Status;
use crate::error::{Error, chain};
use crate::events::{Event, EventType, Recorder, reference};
use crate::finalizer::Finalizer;
use crate::handle::Ownership;
use crate::held::Held;
use crate::home::Leaving;
use crate::key::Key;
use crate::metrics::{ControllerMetrics, QueueMetrics, ReconcileResult};
use crate::outcome::{Failure as _, Outcome, Retry};
use crate::pass::{Asked, Wanted};
use crate::prune::prune;
use crate::queue::{Finish, Item, Priority, Queue};
use crate::reason::Reason;
use crate::reconciler::{Ended, Failed, Reconcile};
use crate::report::{self, Verdict};
use crate::store::Store;
use crate::wiring::Source;
use crate::write::Writer;

/// What the workers of one controller share.
pub(crate) struct Worker {
    pub(crate) name: Arc<str>,
    pub(crate) reconciler: Arc<dyn Reconcile>,
    pub(crate) primary: Arc<Store>,
    pub(crate) sources: Vec<Source>,
    pub(crate) queue: Queue,
    /// None if nothing has to be done before an object goes.
    pub(crate) finalizer: Option<Finalizer>,
    /// Whether the finalizer is put on; one that is there is taken off in any case.
    pub(crate) finalizer_wanted: bool,
    /// Once it has begun, none is put on any more.
    pub(crate) leaving: Leaving,
    pub(crate) deadline: Duration,
    pub(crate) writer: Writer,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) queue_metrics: QueueMetrics,
    pub(crate) blocked: Blocked,
    /// Where the author's code runs, so that what it blocks is nothing of ours.
    pub(crate) passes: tokio::runtime::Handle,
}

impl Worker {
    /// Works until the queue is closed.
    pub(crate) async fn run(self: Arc<Self>) {
        while let Some(item) = self.queue.next().await {
            self.handle(item).await;
        }
    }

    async fn handle(self: &Arc<Self>, item: Item) {
        self.queue_metrics.waited(item.waited);
        let Some(held) = self.primary.get(&item.key) else {
            self.queue.finish(&item.key, Finish::Done);
            self.queue.forget(&item.key);
            return;
        };
        let (namespace, name) = (item.key.namespace(), item.key.name());
        let controller = &*self.name;
        let span = info_span!("reconcile", controller, namespace, name, reason = item.reason);
        self.metrics.started();
        let started = Instant::now();
        let finish = self.turn(&held).instrument(span).await;
        let took = started.elapsed();
        self.metrics.finished(result_of(finish.as_ref()), took);
        self.queue_metrics.worked(took);
        if let Some(finish) = finish {
            self.queue.finish(&item.key, finish);
        }
    }

    /// One pass from beginning to end. None if it still blocks its thread.
    async fn turn(self: &Arc<Self>, held: &Arc<Held>) -> Option<Finish> {
        let held = match self.prepare(held).await {
            Ok(Some(held)) => held,
            Ok(None) => return Some(Finish::Done),
            Err(error) => return Some(self.conclude(held, Err(Failed::of(&error)), None).await),
        };
        if let Err(error) = self.look_for_references(&held).await {
            return Some(self.conclude(&held, Err(Failed::of(&error)), None).await);
        }
        let Ended { mut result, status, wanted } = match self.attempt(&held).await {
            Ok(ended) => ended,
            Err(stuck) => {
                self.conclude(&held, Err(stuck), None).await;
                return None;
            }
        };
        if let Ok(Outcome::Done) = &result
            && let Err(error) = self.clear(&held, &wanted).await
        {
            result = Err(Failed::of(&error));
        }
        Some(self.conclude(&held, result, status).await)
    }

    /// Sees to the finalizer. None if there is nothing to run for this object.
    async fn prepare(&self, held: &Arc<Held>) -> Result<Option<Arc<Held>>, Error> {
        let present = self.finalizer.as_ref().and_then(|finalizer| finalizer.position(held));
        if held.deleting() {
            return Ok(present.map(|_| held.clone()));
        }
        if self.writer.doomed.contains(held.uid()) {
            return Ok(None);
        }
        let wanted = self.finalizer_wanted && !self.leaving.has_begun();
        match (&self.finalizer, present) {
            (Some(finalizer), None) if wanted => finalizer.add(&self.writer, held).await,
            (Some(finalizer), Some(_)) if !wanted => {
                finalizer.remove(&self.writer, held).await?;
                Ok(self.primary.get(&key_of(held)))
            }
            _ => Ok(Some(held.clone())),
        }
    }

    /// Removes children that are not wanted: all that no owner reference would take along, for an
    /// object that goes.
    async fn clear(&self, held: &Held, wanted: &Wanted) -> Result<(), Error> {
        let going = held.deleting();
        let sources: Vec<Source> = self
            .sources
            .iter()
            .filter(|source| !going || source.ownership == Some(Ownership::Label))
            .cloned()
            .collect();
        prune(&self.writer, &sources, held.uid(), wanted).await.map(drop)
    }

    /// Tells people how it ended, and the queue when to look again.
    async fn conclude(
        &self,
        held: &Arc<Held>,
        result: Result<Outcome, Failed>,
        asked: Option<Asked>,
    ) -> Finish {
        let going = held.deleting();
        let silent = going && result.is_ok() && asked.is_none();
        // Neither is of use to anybody: another instance tells, or the object goes with its namespace.
        let moot =
            result.is_err() && (!self.writer.leads() || self.writer.doomed.contains(held.uid()));
        let verdict = verdict(&result, going);
        if !silent && !moot {
            self.publish(held, &verdict);
            if let Err(error) = self.write_status(held, asked, &verdict).await {
                let (reason, error) = (error.reason(), chain(&error));
                if reason == Reason::Conflict.as_str() {
                    debug!(error, "status not written: the object has changed meanwhile");
                } else {
                    warn!(%reason, error, "status not written");
                }
                if result.is_ok() {
                    return Finish::Retry;
                }
            }
        }
        match result {
            Ok(Outcome::Done) if going => self.release(held).await,
            Ok(Outcome::Done) => Finish::Done,
            Ok(Outcome::After(delay)) => Finish::After(delay),
            Err(failed) => self.failed(held, &failed),
        }
    }

    async fn release(&self, held: &Held) -> Finish {
        let Some(finalizer) = &self.finalizer else { return Finish::Done };
        match finalizer.remove(&self.writer, held).await {
            Ok(()) => {
                let (kind, namespace, name) =
                    (&self.primary.kind.kind, held.namespace(), held.name());
                info!(kind, namespace, name, "finalized");
                Finish::Done
            }
            Err(error) => self.failed(held, &Failed::of(&error)),
        }
    }

    fn failed(&self, held: &Held, failed: &Failed) -> Finish {
        let (reason, retry) = (&*failed.reason, failed.retry);
        // Once, and not with every attempt: the object says it as long as it holds.
        if self.writer.doomed.contains(held.uid()) || Verdict::failure(failed).is_told_by(held) {
            debug!(reason, ?retry, error = failed.message, "reconcile failed again");
        } else {
            error!(reason, ?retry, error = failed.message, "reconcile failed");
        }
        match failed.retry {
            Retry::Backoff => Finish::Retry,
            Retry::After(delay) => Finish::After(delay),
            Retry::OnChange => {
                self.metrics.terminal_error();
                Finish::Wait
            }
        }
    }

    async fn write_status(
        &self,
        held: &Arc<Held>,
        asked: Option<Asked>,
        verdict: &Verdict,
    ) -> Result<(), Error> {
        let key = key_of(held);
        let status = report::status(held, asked, verdict, self.clock.now());
        let written = report::write(&self.writer, &self.primary, held.uid(), &key, &status).await?;
        if let Some(written) = written
            && report::is_otherwise_changed(held, &written)
        {
            // The watch will say nothing that the answer to our write has not said already.
            self.queue.add(key, Priority::High, "changed");
        }
        Ok(())
    }

    /// A failure is published when it begins or changes its reason, not with every attempt.
    fn publish(&self, held: &Held, verdict: &Verdict) {
        if verdict.status == Status::True || verdict.is_told_by(held) {
            return;
        }
        let kind = &self.primary.kind;
        let namespace = Some(held.namespace()).filter(|namespace| !namespace.is_empty());
        let regarding =
            reference(&kind.api_version, &kind.kind, namespace, held.name(), held.uid());
        self.recorder.record(Event {
            type_: EventType::Warning,
            reason: verdict.reason.clone(),
            action: "Reconcile".into(),
            note: verdict.message.clone(),
            regarding,
        });
    }
}

fn verdict(result: &Result<Outcome, Failed>, going: bool) -> Verdict {
    match result {
        Ok(_) if going => Verdict {
            status: Status::True,
            reason: Reason::Finalizing.as_str().into(),
            message: "the object is being deleted".into(),
        },
        Ok(_) => Verdict::success(),
        Err(failed) => Verdict::failure(failed),
    }
}

fn result_of(finish: Option<&Finish>) -> ReconcileResult {
    match finish {
        Some(Finish::Done) => ReconcileResult::Success,
        Some(Finish::After(_)) => ReconcileResult::RequeueAfter,
        Some(Finish::Retry | Finish::Wait) | None => ReconcileResult::Error,
    }
}

fn key_of(held: &Held) -> Key {
    Key::new(held.namespace(), held.name())
}
