//! The end of a pass: tells people how it ended, by status, event and log, and the queue when to look again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tracing::{debug, error, info, warn};

use crate::conditions::Status;
use crate::error::{Error, chain};
use crate::events::{Event, EventType, reference};
use crate::held::Held;
use crate::outcome::{Failure as _, Outcome, Retry};
use crate::pass::Asked;
use crate::queue::{Finish, Priority};
use crate::reason::Reason;
use crate::reconciler::{Ended, Failed};
use crate::report::{self, Verdict};
use crate::worker::{Worker, key_of};

/// Whether the status says it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It does, by this write or an earlier one, or it need not.
    Yes,
    /// The last status is too young; the object comes again when the next may be written.
    Later,
}

impl Worker {
    /// Tells people how it ended, and the queue when to look again.
    pub(super) async fn conclude(&self, held: &Arc<Held>, ended: Ended) -> Finish {
        let Ended { result, status: asked, events, .. } = ended;
        let going = held.deleting();
        let silent = going && result.is_ok() && asked.is_none();
        let moot = result.is_err() && self.is_moot(held);
        let unwelcome = result.as_ref().is_err_and(Failed::asks_for_patience);
        let mut told = Told::Yes;
        if !silent && !moot && !unwelcome {
            let verdict = verdict(&result, going);
            match self.write_status(held, asked, &verdict).await {
                Ok(written) => told = written,
                Err(error) => {
                    not_written(&error);
                    if result.is_ok() && !(going && is_final(&error)) {
                        return self.again(held, &error);
                    }
                }
            }
            if told == Told::Yes {
                self.publish(held, &verdict);
            }
        }
        if told == Told::Yes && !unwelcome {
            for event in events {
                self.recorder.record(event);
            }
        }
        match result {
            Ok(Outcome::Done) if going => self.release(held).await,
            Ok(Outcome::Done) => Finish::Done,
            Ok(Outcome::After(delay)) => Finish::After(delay),
            Err(failed) => self.failed(held, &failed, told),
        }
    }

    /// All is well but for the status. An object that changes faster than its status is written is no
    /// failure: if this pass has changed children, the next one keeps the pace of such passes.
    fn again(&self, held: &Held, error: &Error) -> Finish {
        let outrun = error.reason() == Reason::Conflict.as_str();
        match error.retry() {
            _ if outrun && self.writer.pace.has_changed(held.uid()) => {
                Finish::After(Duration::ZERO)
            }
            Retry::After(delay) => Finish::Patience(delay),
            Retry::Backoff | Retry::OnChange => Finish::Retry,
        }
    }

    /// True if a failure is of no use to anybody: another instance tells, the object goes with its
    /// namespace, or it is gone or to go since the pass began.
    fn is_moot(&self, held: &Held) -> bool {
        let is_the_same =
            |now: Arc<Held>| now.uid() == held.uid() && now.deleting() == held.deleting();
        let is_there = || self.primary.get(&key_of(held)).is_some_and(is_the_same);
        !self.writer.leads() || self.writer.doomed.contains(held.uid()) || !is_there()
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
            Err(error) => self.failed(held, &Failed::of(&error), Told::Yes),
        }
    }

    fn failed(&self, held: &Held, failed: &Failed, told: Told) -> Finish {
        let (reason, retry) = (&*failed.reason, failed.retry);
        // Once, and not with every attempt: the object says it as long as it holds.
        if told == Told::Later || self.is_moot(held) || Verdict::failure(failed).is_told_by(held) {
            debug!(reason, ?retry, error = failed.message, "reconcile failed again");
        } else {
            error!(reason, ?retry, error = failed.message, "reconcile failed");
        }
        match failed.retry {
            Retry::Backoff => Finish::Retry,
            Retry::After(delay) if failed.asks_for_patience() => Finish::Patience(delay),
            Retry::After(delay) => Finish::After(delay),
            Retry::OnChange => {
                self.metrics.terminal_error();
                Finish::Wait
            }
        }
    }

    /// Writes the status if it differs and the last one is old enough.
    async fn write_status(
        &self,
        held: &Arc<Held>,
        asked: Option<Asked>,
        verdict: &Verdict,
    ) -> Result<Told, Error> {
        let key = key_of(held);
        let status = report::status(held, asked, verdict, self.clock.now());
        let unsettled = || report::unsettled(&self.primary, held.uid(), &key, &status);
        let Some(mut newest) = unsettled() else { return Ok(Told::Yes) };
        let well = verdict.status == Status::True;
        if well && held.deleting() {
            // It is about to go: there is no later, and `finalize` is not run twice for it.
            tokio::time::sleep(self.spacing.least_wait(&key).unwrap_or_default()).await;
            let Some(now) = unsettled() else { return Ok(Told::Yes) };
            newest = now;
        } else if let Some(wait) = self.spacing.wait(&key) {
            // What fails comes back by its back-off, which this must not cut short.
            let priority = if well { Priority::High } else { Priority::Low };
            self.queue.add_after(key, wait, priority, "status");
            return Ok(Told::Later);
        }
        self.send_status(held, &newest, &status).await?;
        Ok(Told::Yes)
    }

    async fn send_status(&self, held: &Held, newest: &Held, status: &Value) -> Result<(), Error> {
        let key = key_of(held);
        let written = report::write(&self.writer, &self.primary, newest, &key, status).await;
        self.spacing.note(&key);
        let written = written?;
        // It was written to `newest` and no later state, so that only what came before can be new.
        if held.version() != newest.version() && report::is_otherwise_changed(held, &written) {
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

/// The API server will say no again: what is to go does not wait for a word that cannot be said.
fn is_final(error: &Error) -> bool {
    error
        .status()
        .is_some_and(|status| matches!(status.code, 400..=499) && !matches!(status.code, 409 | 429))
}

fn not_written(error: &Error) {
    let (reason, error) = (error.reason(), chain(error));
    if reason == Reason::Conflict.as_str() {
        debug!(error, "status not written: the object has changed meanwhile");
    } else {
        warn!(%reason, error, "status not written");
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
