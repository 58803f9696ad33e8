//! What a client sees on a watch, with the moment at which it was there to be read.

use std::time::Instant;

use anyhow::Context as _;
use kube::Client;
use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use crate::wire;

/// Where the kinds are.
pub(crate) const CACHES: &str = "/apis/cache.example.com/v1alpha1/memcacheds";
pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
pub(crate) const SERVICES: &str = "/api/v1/services";
pub(crate) const PODS: &str = "/api/v1/pods";

/// An object in an event.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) event: Event,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// What its status says it has seen.
    pub(crate) observed: Option<i64>,
    pub(crate) finalized: bool,
    /// Of a Deployment.
    pub(crate) replicas: Option<i32>,
    /// The uid of its owner.
    pub(crate) owner: Option<String>,
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Event {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    event: Event,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    generation: i64,
    #[serde(default)]
    finalizers: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    owner_references: Vec<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    uid: String,
}

#[derive(Default, Deserialize)]
struct Spec {
    replicas: Option<i32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    observed_generation: Option<i64>,
}

impl Seen {
    pub(crate) fn read(line: &[u8], at: Instant) -> serde_json::Result<Self> {
        let Line { event, object: Object { metadata, spec, status } } =
            serde_json::from_slice(line)?;
        Ok(Self {
            at,
            event,
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            generation: metadata.generation,
            observed: status.observed_generation,
            finalized: !metadata.finalizers.is_empty(),
            replicas: spec.replicas,
            owner: metadata.owner_references.into_iter().next().map(|owner| owner.uid),
        })
    }

    /// The finalizer is there, and the status is about the spec as it is. The children are there too then:
    /// all operators write the status last.
    pub(crate) fn is_converged(&self) -> bool {
        self.event != Event::Deleted && self.finalized && self.observed == Some(self.generation)
    }
}

/// A watch that is being read.
pub(crate) struct Watcher {
    events: UnboundedReceiver<anyhow::Result<Seen>>,
    task: JoinHandle<()>,
}

impl Watcher {
    /// Begins now.
    pub(crate) async fn start(client: Client, path: &'static str) -> anyhow::Result<Self> {
        let (sender, events) = unbounded_channel();
        let (version, _) = wire::count(&client, path).await?;
        let task = tokio::spawn(async move {
            let each = |line: &[u8]| {
                let seen = Seen::read(line, Instant::now()).context("cannot read an event");
                sender.send(seen).is_ok()
            };
            if let Err(error) = wire::watch(&client, path, &version, each).await {
                let _ = sender.send(Err(error));
            }
        });
        Ok(Self { events, task })
    }

    /// The next event.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Seen> {
        self.events.recv().await.context("the watch has ended")?
    }

    /// Forgets what has come so far.
    pub(crate) fn skip(&mut self) {
        while self.events.try_recv().is_ok() {}
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}
