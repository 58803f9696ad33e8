//! The typed edge of a controller: decodes the object, runs the author's code, and hands over what came of
//! it without types, so that queue, workers and watches are compiled once.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use kube::Resource as _;

use crate::controller::Controller;
use crate::error::{Error, chain};
use crate::events::Event;
use crate::held::Held;
use crate::key::Key;
use crate::outcome::{Failure, Outcome, Retry};
use crate::pass::{Asked, Pass, Wanted};
use crate::reason::Reason;

/// How a pass ended.
pub(crate) struct Ended {
    pub(crate) result: Result<Outcome, Failed>,
    /// The status that was asked for, if any.
    pub(crate) status: Option<Asked>,
    pub(crate) wanted: Wanted,
    /// What is to be published, if it ends here.
    pub(crate) events: Vec<Event>,
}

impl Ended {
    /// A pass that failed and left nothing.
    pub(crate) fn failed(failed: Failed) -> Self {
        Self { result: Err(failed), status: None, wanted: Wanted::new(), events: Vec::new() }
    }
}

/// A failed pass.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) retry: Retry,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) message: String,
}

impl Failed {
    pub(crate) fn of<E: Failure>(error: &E) -> Self {
        Self { retry: error.retry(), reason: error.reason(), message: chain(error) }
    }

    /// The API server has said when it wants to be asked again: a status or an event now is what it does not want.
    pub(crate) fn asks_for_patience(&self) -> bool {
        matches!(self.retry, Retry::After(_)) && self.reason == Reason::ApiError.as_str()
    }
}

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A controller without its types.
pub(crate) trait Reconcile: Send + Sync {
    /// Runs `reconcile`, or `finalize` for an object that is being deleted.
    fn pass(self: Arc<Self>, held: Arc<Held>) -> BoxFuture<Ended>;
}

/// A controller with its types.
pub(crate) struct Live<C>(pub(crate) C);

impl<C: Controller> Reconcile for Live<C> {
    fn pass(self: Arc<Self>, held: Arc<Held>) -> BoxFuture<Ended> {
        Box::pin(async move {
            let key = Key::new(held.namespace(), held.name());
            let object: C::Kind = match held.decode() {
                Ok(object) => object,
                Err(source) => return undecodable::<C>(&key, source),
            };
            let is_new = !held.has_own_status();
            drop(held); // the compressed text is not needed while the author's code runs
            let pass = Pass::new(&object, key, is_new);
            let result = if object.meta().deletion_timestamp.is_some() {
                self.0.finalize(&object, &pass).await
            } else {
                self.0.reconcile(&object, &pass).await
            };
            let (status, wanted, events) = pass.into_notes();
            let result = result.map_err(|error| Failed::of(&error));
            Ended { result, status, wanted, events }
        })
    }
}

fn undecodable<C: Controller>(key: &Key, source: serde_json::Error) -> Ended {
    let (kind, name) = (C::Kind::kind(&()).into_owned(), key.to_string());
    let error = Error::Undecodable { kind, name, source };
    Ended::failed(Failed::of(&error))
}
