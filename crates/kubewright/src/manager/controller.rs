//! Starts the workers of each controller: after its caches are filled, and while this instance leads.

use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::Manager;
use crate::backoff::Backoff;
use crate::finalizer::Finalizer;
use crate::lease::Leadership;
use crate::queue::{Priority, Queue};
use crate::registration::{Registered, Wired};
use crate::spacing::Spacing;
use crate::store::Store;
use crate::worker::Worker;

/// Two statuses of one object are not closer than this. What an object is made of changes in bursts: three
/// pods come up within a second, each through several states. Every status costs a request, an entry in
/// etcd and an event for all who watch, and of a burst only the last matters. Nobody sees the delay.
const BETWEEN_STATUSES: Duration = Duration::from_millis(200);
/// Nor in a burst that goes on farther apart than this: later, people would like to be told.
const BETWEEN_STATUSES_AT_MOST: Duration = Duration::from_secs(1);

impl Manager {
    pub(super) fn add_controllers(&mut self, controllers: &[Box<dyn Registered>]) {
        for controller in controllers {
            let wired = controller.wire(&self.shared.registry);
            self.add_controller(name(controller.as_ref(), controllers), wired);
        }
    }

    fn add_controller(&mut self, name: String, wired: Wired) {
        let shared = &self.shared;
        let (group, kind) = (&wired.primary.kind.group, &wired.primary.kind.kind);
        info!(controller = name, group, kind, "starting controller");
        let count = shared.flags.max_concurrent_reconciles;
        let queue = Queue::new(Backoff::new(shared.flags.max_backoff));
        let stats = queue.clone();
        let queue_metrics = shared.metrics.queue(&name, move || stats.stats());
        wired.primary.subscribe(queue.clone(), wired.primary.clone());
        for source in &wired.asked.sources {
            source.store.subscribe(queue.clone(), wired.primary.clone());
        }
        let finalizer = wired
            .finalizes
            .then(|| Finalizer::new(wired.primary.clone(), &shared.registry.manager));
        let worker = Arc::new(Worker {
            metrics: shared.metrics.controller(&name, count),
            name: name.into(),
            reconciler: wired.reconciler,
            primary: wired.primary.clone(),
            sources: wired.asked.sources,
            queue: queue.clone(),
            finalizer,
            finalizer_wanted: shared.flags.finalizer,
            leaving: shared.leaving.clone(),
            deadline: shared.flags.reconcile_timeout,
            writer: shared.writer.clone(),
            recorder: shared.recorder.clone(),
            clock: shared.clock.clone(),
            queue_metrics,
            spacing: Spacing::growing(BETWEEN_STATUSES, BETWEEN_STATUSES_AT_MOST),
            blocked: shared.blocked.clone(),
            passes: shared.passes.clone(),
        });
        if !shared.flags.resync.is_zero() {
            self.background.spawn(resync(wired.primary, queue.clone(), shared.flags.resync));
        }
        self.queues.push(queue);
        if worker.finalizer.is_some() {
            self.finalizing.push(worker.clone());
        }
        self.start_workers(&worker, count);
    }

    fn start_workers(&mut self, worker: &Arc<Worker>, count: usize) {
        for number in 0..count {
            let (worker, leadership) = (worker.clone(), self.shared.leadership.clone());
            let mut closing = self.closing.subscribe();
            self.workers.spawn(async move {
                tokio::select! {
                    () = until_ready(&worker, &leadership) => {}
                    _ = closing.wait_for(|closing| *closing) => return,
                }
                if number == 0 {
                    info!(controller = &*worker.name, "worker count" = count, "starting workers");
                }
                worker.run().await;
            });
        }
    }
}

/// Resolves when the caches are filled and this instance leads.
async fn until_ready(worker: &Worker, leadership: &Leadership) {
    worker.primary.until_synced().await;
    for source in &worker.sources {
        source.store.until_synced().await;
    }
    leadership.until_leading().await;
}

/// Looks at every object again from time to time, spread over a tenth of it, without a request.
async fn resync(primary: Arc<Store>, queue: Queue, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let keys = primary.keys();
        let step = (every / 10) / u32::try_from(keys.len().max(1)).unwrap_or(u32::MAX);
        let mut delay = Duration::ZERO;
        for key in keys {
            queue.add_after(key, delay, Priority::Low, "resync");
            delay += step;
        }
    }
}

/// What logs and metrics call a controller: by its kind, and where groups share that, by its resource.
fn name(controller: &dyn Registered, all: &[Box<dyn Registered>]) -> String {
    let name = controller.name();
    let is_shared = all.iter().filter(|other| other.name() == name).count() > 1;
    if is_shared { controller.resource() } else { name }
}
