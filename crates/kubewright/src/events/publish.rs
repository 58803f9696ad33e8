//! Sends events, one request at a time: new ones as they come, counts now and then. The only part of
//! events that waits for the API server, and nobody waits for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::events::v1::{Event as EventObject, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::aggregate::{Place, Update};
use super::object::{Names, Reporter};
use super::{Creation, Shared};
use request::{Failure, send};

mod request;

/// How long the end may take: an operator that has to stop does not wait for courtesies.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// See the module.
pub(super) struct Publisher {
    client: Client,
    reporter: Reporter,
    shared: Arc<Shared>,
    creations: mpsc::Receiver<Creation>,
    stopped: watch::Receiver<bool>,
    pause: Duration,
    names: Names,
    /// True after a failure was logged, until a request succeeds again.
    has_warned: bool,
}

impl Publisher {
    /// Counts of one series are sent at most once in `pause`.
    pub(super) fn new(
        client: Client,
        reporter: Reporter,
        shared: Arc<Shared>,
        (creations, stopped): (mpsc::Receiver<Creation>, watch::Receiver<bool>),
        pause: Duration,
    ) -> Self {
        let names = Names::new();
        let has_warned = false;
        Self { client, reporter, shared, creations, stopped, pause, names, has_warned }
    }

    /// Publishes until there are no more recorders or one says stop.
    pub(super) async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut stopped = self.stopped.clone();
        let out_of_time = async move {
            until_stopped(&mut stopped).await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = self.work() => {}
            () = out_of_time => {}
        }
        let lost = shared.aggregator().unsent();
        shared.dropped(lost);
    }

    async fn work(&mut self) {
        let mut stopped = self.stopped.clone();
        let mut ticks = tokio::time::interval(self.pause / 4);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut updates = VecDeque::new();
        loop {
            tokio::select! {
                biased;
                () = until_stopped(&mut stopped), if !self.creations.is_closed() => {
                    self.creations.close();
                }
                creation = self.creations.recv() => match creation {
                    Some(creation) => self.create(creation).await,
                    None => break,
                },
                Some(update) = async { updates.pop_front() } => {
                    if !self.update(update).await {
                        // Their turn comes again after the pause, with more in each request.
                        updates.clear();
                    }
                }
                _ = ticks.tick() => updates.extend(self.due(self.pause)),
            }
        }
        for update in self.due(Duration::ZERO) {
            self.update(update).await;
        }
    }

    fn due(&self, pause: Duration) -> Vec<Update> {
        self.shared.aggregator().due(Instant::now(), pause)
    }

    async fn create(&mut self, creation: Creation) {
        let Creation { key, event, time } = creation;
        let place = self.names.place(&event);
        let uid = event.regarding.uid.clone().unwrap_or_default();
        let doomed = self.shared.doomed.clone();
        if doomed.contains(&uid) || doomed.contains_namespace(&place.namespace) {
            return self.shared.lose(&key);
        }
        let object = self.reporter.object(event, time, &place);
        let api = self.api(&place);
        let parameters = PostParams::default();
        match send(|| api.create(&parameters, &object)).await {
            // It exists if the answer to the first attempt was lost.
            Ok(()) | Err(Failure::Exists) => {
                self.has_warned = false;
                self.shared.aggregator().created(&key, place);
            }
            Err(failure) => {
                if matches!(failure, Failure::Gone) {
                    doomed.add(&uid, &place.namespace);
                }
                self.report(&failure);
                self.shared.lose(&key);
            }
        }
    }

    /// False if the API server cannot be reached, so that there is no use in going on.
    async fn update(&mut self, update: Update) -> bool {
        let series = EventSeries {
            count: i32::try_from(update.count).unwrap_or(i32::MAX),
            last_observed_time: MicroTime(update.last_observed),
        };
        let patch = Patch::Merge(json!({ "series": series }));
        let api = self.api(&update.place);
        let parameters = PatchParams::default();
        match send(|| api.patch(&update.place.name, &parameters, &patch)).await {
            Ok(()) => {
                self.has_warned = false;
                self.shared.aggregator().sent(&update);
                true
            }
            // Expired, or deleted by somebody: the next event begins a new series.
            Err(Failure::Gone) => {
                self.shared.lose(&update.key);
                true
            }
            Err(failure) => {
                self.report(&failure);
                false
            }
        }
    }

    fn api(&self, place: &Place) -> Api<EventObject> {
        Api::namespaced(self.client.clone(), &place.namespace)
    }

    /// A namespace that goes away takes its events with it, which is no news.
    fn report(&mut self, failure: &Failure) {
        if matches!(failure, Failure::Gone) {
            return;
        }
        let error: &dyn std::error::Error = failure;
        if self.has_warned {
            tracing::debug!(error, "cannot publish an event");
        } else {
            tracing::warn!(error, "cannot publish an event");
            self.has_warned = true;
        }
    }
}

/// Ends when a recorder says stop or there is none left.
async fn until_stopped(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
}
