//! The one place that sends writes: only while we lead, each with a deadline that ends before the lease
//! does, each guarded by uid or resourceVersion.
//!
//! What to send is decided elsewhere: [`crate::apply`], [`crate::prune`], [`mod@crate::finalizer`],
//! [`crate::report`].

use std::sync::Arc;
use std::time::Duration;

use kube::api::Patch;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::doomed::Doomed;
use crate::error::Error;
use crate::fight::Fights;
use crate::key::Key;
use crate::lease::Leadership;
use crate::pace::Pace;
use crate::raw::Raw;
use crate::store::Store;

/// No write takes longer; whether it was done is then unknown, and the next pass sees it.
const DEADLINE: Duration = Duration::from_secs(10);

/// Sends writes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    leadership: Leadership,
    pub(crate) manager: Arc<str>,
    pub(crate) fights: Arc<Fights>,
    pub(crate) doomed: Doomed,
    pub(crate) pace: Arc<Pace>,
    /// Where requests run: not on the threads of the author's code, which may be blocked.
    pub(crate) runtime: Handle,
}

impl Writer {
    /// To be called on the runtime that requests are to run on.
    pub(crate) fn new(
        client: Client,
        leadership: Leadership,
        manager: Arc<str>,
        doomed: Doomed,
    ) -> Self {
        let (fights, pace, runtime) = (Arc::default(), Arc::default(), Handle::current());
        Self { client, leadership, manager, fights, doomed, pace, runtime }
    }

    /// True while this instance may write.
    pub(crate) fn leads(&self) -> bool {
        self.leadership.may_write().is_some()
    }

    /// The objects beside `key`.
    pub(crate) fn api(&self, store: &Store, key: &Key) -> Api<Raw> {
        api(&self.client, &store.kind, store.namespaced.then(|| key.namespace()))
    }

    /// Sends one request and classifies what comes of it.
    pub(crate) async fn send<T>(
        &self,
        request: Request<'_>,
        answer: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Error> {
        let action = || request.to_string();
        let Some(remaining) = self.leadership.may_write() else {
            return Err(Error::NotLeading { action: action() });
        };
        let limit = remaining.min(DEADLINE);
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Error::api(
                &self.manager,
                request.verb,
                &resource(request.kind),
                action(),
                error,
            )),
            Err(_) => Err(Error::Deadline { action: action(), after: limit }),
        }
    }
}

/// What is about to be sent, for errors and logs.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    /// As RBAC calls it.
    pub(crate) verb: &'static str,
    /// As people call it.
    pub(crate) doing: &'static str,
    pub(crate) kind: &'a ApiResource,
    pub(crate) key: &'a Key,
}

impl std::fmt::Display for Request<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {} {}", self.doing, self.kind.kind, self.key)
    }
}

/// `plural.group`, as `kubectl` calls a kind.
pub(crate) fn resource(kind: &ApiResource) -> String {
    if kind.group.is_empty() {
        kind.plural.clone()
    } else {
        format!("{}.{}", kind.plural, kind.group)
    }
}

/// The objects of a kind in a namespace, or all.
pub(crate) fn api(client: &Client, kind: &ApiResource, namespace: Option<&str>) -> Api<Raw> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, kind),
        None => Api::all_with(client.clone(), kind),
    }
}

/// Operations as a patch of the client's type.
pub(crate) fn json_patch(key: &Key, operations: Vec<Value>) -> Result<Patch<()>, Error> {
    let patch = serde_json::from_value(Value::Array(operations));
    patch.map(Patch::Json).map_err(|source| Error::Unserializable {
        kind: "JSON patch".to_owned(),
        name: key.to_string(),
        source,
    })
}

/// A key as a step of a JSON pointer, by RFC 6901.
pub(crate) fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
