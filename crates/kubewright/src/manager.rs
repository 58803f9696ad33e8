//! Runs an operator: clients, caches, workers, election, servers, and their end in the right order.
//!
//! The library's own work runs on the runtime that calls [`Manager::run`]; the author's code runs on
//! threads of its own, so that code that blocks never keeps the lease, the probes or the watches waiting.

mod configuration;
mod controller;
mod election;
mod error;
mod leaving;
mod runnables;
mod watches;
#[cfg(feature = "webhook")]
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use kube::{Client, Config};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tracing::{info, warn};

pub(crate) use configuration::configuration;
pub use error::RunError;

use crate::client::{Purpose, client};
use crate::clock::Clock;
use crate::events::Recorder;
use crate::flags::Flags;
use crate::health::Health;
use crate::home::{Home, Leaving};
use crate::lease::{Leadership, identity};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::registration::Registered;
use crate::registry::Registry;
use crate::runnable::Runnables;
use crate::server;
use crate::worker::{Blocked, Passes, Worker};
use crate::write::Writer;
use election::Candidate;
use runnables::until_failed;

/// How long running passes may take to end once the operator stops.
const GRACE: Duration = Duration::from_secs(30);
/// And if it goes for good, when the finalizers are more important.
const SHORT_GRACE: Duration = Duration::from_secs(5);

/// Everything that controllers share while they run.
pub(super) struct Shared {
    flags: Flags,
    registry: Arc<Registry>,
    metrics: Metrics,
    recorder: Recorder,
    clock: Clock,
    leadership: Leadership,
    writer: Writer,
    blocked: Blocked,
    leaving: Leaving,
    passes: Passes,
}

/// What an operator is made of.
pub(crate) struct Parts {
    pub(crate) controllers: Vec<Box<dyn Registered>>,
    pub(crate) runnables: Runnables,
    pub(crate) clock: Clock,
    #[cfg(feature = "webhook")]
    pub(crate) webhooks: Vec<crate::webhook::Hook>,
}

impl Parts {
    #[cfg(feature = "webhook")]
    fn metrics(&self) -> Metrics {
        if self.webhooks.is_empty() { Metrics::new() } else { Metrics::with_webhooks() }
    }

    #[cfg(not(feature = "webhook"))]
    #[expect(clippy::unused_self, reason = "there is nothing to look at")]
    fn metrics(&self) -> Metrics {
        Metrics::new()
    }
}

/// A running operator.
pub(crate) struct Manager {
    shared: Shared,
    client: Client,
    queues: Vec<Queue>,
    /// The controllers that put finalizers on.
    finalizing: Vec<Arc<Worker>>,
    /// The operator's own Deployment and namespace, where it is to know them.
    home: Option<Home>,
    workers: JoinSet<()>,
    background: JoinSet<()>,
    runnables: JoinSet<Result<(), RunError>>,
    /// True once nothing new may begin.
    closing: watch::Sender<bool>,
    publisher: JoinHandle<()>,
    election: Candidate,
    #[cfg(feature = "webhook")]
    serving: Option<webhooks::Serving>,
}

impl Manager {
    /// Starts everything; nothing is written before the caches are filled and this instance leads.
    pub(crate) async fn start(
        name: &str,
        parts: Parts,
        config: Config,
        flags: Flags,
    ) -> Result<Self, RunError> {
        check(name, &parts.controllers)?;
        let (metrics, health) = (parts.metrics(), Health::starting());
        let (controllers, runnables, clock) = (parts.controllers, parts.runnables, parts.clock);
        let mut background = JoinSet::new();
        serve(&flags, &metrics, &health, &mut background).await?;
        let (own_namespace, counted) = (config.default_namespace.clone(), metrics.requests());
        let make = |purpose| client(config.clone(), purpose, name, counted.clone());
        let requests = make(Purpose::Requests)?;
        let instance = identity();
        let election = if flags.leader_elect {
            let lease = lease(&flags, name, &own_namespace);
            Candidate::stand(make(Purpose::Lease)?, lease, instance.clone(), &metrics)
        } else {
            Candidate::unopposed()
        };
        let (leadership, registry) = (election.leadership.clone(), Arc::new(Registry::new(name)));
        let (recorder, publisher) = recorder(&requests, name, instance, &clock, metrics.clone());
        let writer =
            Writer::new(requests.clone(), leadership.clone(), name.into(), recorder.doomed());
        registry.go_live(writer.clone());
        let passes = Passes::new(flags.max_concurrent_reconciles * controllers.len());
        let shared = Shared {
            flags,
            registry,
            metrics,
            recorder,
            clock,
            leadership,
            writer,
            blocked: Blocked::default(),
            leaving: Leaving::default(),
            passes,
        };
        let mut manager = Self {
            shared,
            client: requests,
            queues: Vec::new(),
            finalizing: Vec::new(),
            home: None,
            workers: JoinSet::new(),
            background,
            runnables: JoinSet::new(),
            closing: watch::Sender::new(false),
            publisher: tokio::spawn(publisher),
            election,
            #[cfg(feature = "webhook")]
            serving: None,
        };
        manager.add_checks(&health);
        manager.add_controllers(&controllers);
        let watches = make(Purpose::Watches)?;
        manager.add_watches(&health, &watches);
        #[cfg(feature = "webhook")]
        manager.serve_webhooks(parts.webhooks, &health, watches.clone(), &own_namespace).await?;
        manager.watch_home(watches, own_namespace);
        manager.add_runnables(runnables);
        health.started();
        Ok(manager)
    }

    /// Runs until `stop` resolves, leadership is lost, or a runnable fails; then ends in good order.
    pub(crate) async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), RunError> {
        let result = tokio::select! {
            biased;
            () = stop => Ok(()),
            lost = self.election.until_lost() => Err(lost),
            failed = until_failed(&mut self.runnables) => Err(failed),
        };
        self.end(result.is_ok()).await;
        result
    }

    /// Nothing new begins; what runs may end; who goes for good lets go of all objects; then the lease is
    /// given back, never before.
    async fn end(mut self, in_good_order: bool) {
        #[cfg(feature = "webhook")]
        let begun = tokio::time::Instant::now();
        #[cfg(feature = "webhook")]
        self.turn_callers_away();
        self.runnables.abort_all();
        self.closing.send_replace(true);
        for queue in &self.queues {
            queue.close();
        }
        let leaves = in_good_order && self.is_leaving().await;
        if in_good_order {
            let grace = if leaves { SHORT_GRACE } else { GRACE };
            let workers = async { while self.workers.join_next().await.is_some() {} };
            if timeout(grace, workers).await.is_err() {
                warn!("some passes were not over after {grace:?} and are abandoned");
            }
        }
        self.workers.shutdown().await;
        if leaves {
            self.leave().await;
        }
        self.election.release().await;
        self.shared.recorder.stop();
        let _ = timeout(Duration::from_secs(3), &mut self.publisher).await;
        #[cfg(feature = "webhook")]
        self.hand_over(begun, in_good_order && !leaves).await;
        self.background.shutdown().await;
        info!("stopped");
    }

    fn add_checks(&self, health: &Health) {
        let blocked = self.shared.blocked.clone();
        health.live("reconcile", move || blocked.check());
        if self.shared.flags.leader_elect {
            let leadership = self.shared.leadership.clone();
            health.ready("lease", move || {
                let holder = leadership.holder().unwrap_or_else(|| "nobody".to_owned());
                let said = || format!("not reached lately; when last seen, {holder} held it");
                leadership.is_alive().then_some(()).ok_or_else(said)
            });
        }
    }
}

/// A recorder whose losses are counted, and what publishes its events.
fn recorder(
    client: &Client,
    name: &str,
    instance: String,
    clock: &Clock,
    metrics: Metrics,
) -> (Recorder, impl Future<Output = ()> + Send + use<>) {
    let dropped = move || metrics.events_dropped();
    Recorder::new(client.clone(), name.to_owned(), instance, clock.clone(), dropped)
}

/// Namespace and name of the Lease.
fn lease<'a>(flags: &'a Flags, name: &'a str, own_namespace: &str) -> (String, &'a str) {
    let namespace = flags.leader_election_namespace.as_deref().unwrap_or(own_namespace);
    (namespace.to_owned(), flags.leader_election_id.as_deref().unwrap_or(name))
}

fn check(name: &str, controllers: &[Box<dyn Registered>]) -> Result<(), RunError> {
    if crate::names::dns_label(name) != name {
        return Err(RunError::Name(name.to_owned()));
    }
    let mut seen = std::collections::HashSet::new();
    for controller in controllers {
        if !seen.insert(controller.resource()) {
            return Err(RunError::TwoControllers(controller.resource()));
        }
    }
    if controllers.is_empty() { Err(RunError::NoController) } else { Ok(()) }
}

async fn serve(
    flags: &Flags,
    metrics: &Metrics,
    health: &Health,
    background: &mut JoinSet<()>,
) -> Result<(), RunError> {
    let failed = |source| RunError::Server(Box::new(source));
    if let Some(listener) = server::bind(&flags.health_probe_bind_address).await.map_err(failed)? {
        let address = listener.local_addr().map(|address| address.to_string());
        info!(name = "health probe", address = address.unwrap_or_default(), "starting server");
        background.spawn(server::serve_health(listener, health.clone(), std::future::pending()));
    }
    if let Some(listener) = server::bind(&flags.metrics_bind_address).await.map_err(failed)? {
        let address = listener.local_addr().map(|address| address.to_string());
        info!(name = "metrics", address = address.unwrap_or_default(), "starting server");
        background.spawn(server::serve_metrics(listener, metrics.clone(), std::future::pending()));
    }
    Ok(())
}
