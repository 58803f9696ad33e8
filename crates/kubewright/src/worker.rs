//! Takes objects from the queue and brings each to the end of its pass: finalizer, reconcile, prune,
//! status. A pass that panics, hangs or blocks its thread costs its own object only.

mod attempt;
mod blocked;
mod leave;
mod lookup;
mod passes;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::{Instrument as _, info_span};

pub(crate) use attempt::said;
pub(crate) use blocked::Blocked;
pub(crate) use passes::Passes;

use crate::clock::Clock;
use crate::error::Error;
use crate::events::Recorder;
use crate::finalizer::Finalizer;
use crate::handle::Ownership;
use crate::held::Held;
use crate::home::Leaving;
use crate::key::Key;
use crate::metrics::{ControllerMetrics, QueueMetrics, ReconcileResult};
use crate::outcome::Outcome;
use crate::pass::Wanted;
use crate::prune::prune;
use crate::queue::{Finish, Item, Queue};
use crate::reconciler::{Ended, Failed, Reconcile};
use crate::spacing::Spacing;
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
    pub(crate) spacing: Spacing,
    pub(crate) blocked: Blocked,
    /// Where the author's code runs, so that what it blocks is nothing of ours.
    pub(crate) passes: Passes,
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
            // In this order: what is added between the two is about another of the same name.
            self.queue.forget(&item.key);
            self.queue.finish(&item.key, Finish::Done);
            return;
        };
        // What fails has a distance of its own, and what is to go is not held up.
        let paced = item.attempt == 0 && !held.deleting();
        if let Some(wait) = self.writer.pace.wait(held.uid()).filter(|_| paced) {
            // As urgent as it was: the changes of now are seen by the one pass that comes then.
            self.queue.add_after(item.key.clone(), wait, item.priority, item.reason);
            self.queue.finish(&item.key, Finish::Done);
            return;
        }
        let (namespace, name) = (item.key.namespace(), item.key.name());
        let controller = &*self.name;
        let span = info_span!("reconcile", controller, namespace, name, reason = item.reason);
        self.metrics.started();
        let started = Instant::now();
        let finish = self.turn(&held).instrument(span).await;
        self.writer.pace.passed(held.uid());
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
            Err(error) => {
                return Some(self.conclude(held, Ended::failed(Failed::of(&error))).await);
            }
        };
        if let Err(error) = self.look_for_references(&held).await {
            return Some(self.conclude(&held, Ended::failed(Failed::of(&error))).await);
        }
        let mut ended = match self.attempt(&held).await {
            Ok(ended) => ended,
            Err(stuck) => {
                self.conclude(&held, Ended::failed(stuck)).await;
                return None;
            }
        };
        if let Ok(Outcome::Done) = &ended.result
            && let Err(error) = self.clear(&held, &ended.wanted).await
        {
            ended.result = Err(Failed::of(&error));
        }
        Some(self.conclude(&held, ended).await)
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
}

fn result_of(finish: Option<&Finish>) -> ReconcileResult {
    match finish {
        Some(Finish::Done) => ReconcileResult::Success,
        Some(Finish::After(_)) => ReconcileResult::RequeueAfter,
        Some(Finish::Retry | Finish::Patience(_) | Finish::Wait) | None => ReconcileResult::Error,
    }
}

fn key_of(held: &Held) -> Key {
    Key::new(held.namespace(), held.name())
}
