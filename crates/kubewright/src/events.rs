//! Events: what happened to an object, for people to read with `kubectl describe`.
//!
//! An event is a courtesy. It never delays or fails what it tells about, and an object that fails a
//! thousand times an hour is no reason to send a thousand requests: equal events become one object
//! with a count, and different ones about one object are limited. What is left out is counted.
//!
//! [`Recorder::record`] decides, without waiting; [`publish`] sends, one request at a time.

mod aggregate;
mod object;
mod publish;
mod recent;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use tokio::sync::{mpsc, watch};

use crate::clock::Clock;
use crate::doomed::Doomed;
use aggregate::{Aggregator, Decision, Key};
use object::Reporter;
use publish::Publisher;

/// How many events wait to be created.
const QUEUE: usize = 256;
/// The count of a series is sent at most once in this time.
const PAUSE: Duration = Duration::from_mins(1);

/// How serious an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventType {
    /// For information.
    Normal,
    /// Something may be wrong.
    Warning,
}

impl EventType {
    /// The type as it stands in an event.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// How serious it is.
    pub(crate) type_: EventType,
    /// Why it happened, in one word.
    pub(crate) reason: Cow<'static, str>,
    /// What was done or tried, in one word.
    pub(crate) action: Cow<'static, str>,
    /// What happened, as a sentence.
    pub(crate) note: String,
    /// To which object.
    pub(crate) regarding: ObjectReference,
}

/// Names an object in an event; `namespace` is `None` for a cluster-scoped one.
pub(crate) fn reference(
    api_version: &str,
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    uid: &str,
) -> ObjectReference {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectReference {
        api_version: given(api_version),
        kind: given(kind),
        namespace: namespace.and_then(given),
        name: given(name),
        uid: given(uid),
        ..ObjectReference::default()
    }
}

/// Takes events from anywhere. Clones share everything.
#[derive(Clone)]
pub(crate) struct Recorder {
    queue: mpsc::Sender<Creation>,
    stop: watch::Sender<bool>,
    shared: Arc<Shared>,
}

/// The first event of a series, to be created.
struct Creation {
    key: Arc<Key>,
    event: Event,
    time: Timestamp,
}

/// What the recorders and the publisher have in common.
struct Shared {
    aggregator: Mutex<Aggregator>,
    clock: Clock,
    /// What goes with its namespace needs no event, and gets none.
    doomed: Doomed,
    on_drop: Box<dyn Fn() + Send + Sync>,
}

impl Recorder {
    /// A recorder, and what publishes its events while it is polled. That ends, within two seconds,
    /// when the last clone of the recorder is gone or one is [stopped](Self::stop).
    ///
    /// `controller` and `instance` say who reports; `on_drop` is called for each event that does not
    /// get to the API server.
    pub(crate) fn new(
        client: Client,
        controller: String,
        instance: String,
        clock: Clock,
        on_drop: impl Fn() + Send + Sync + 'static,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let aggregator = Mutex::new(Aggregator::new());
        let (doomed, on_drop) = (Doomed::default(), Box::new(on_drop));
        let shared = Arc::new(Shared { aggregator, clock, doomed, on_drop });
        let (recorder, publisher) =
            Self::with_pause(client, Reporter::new(controller, instance), shared, PAUSE);
        (recorder, publisher.run())
    }

    fn with_pause(
        client: Client,
        reporter: Reporter,
        shared: Arc<Shared>,
        pause: Duration,
    ) -> (Self, Publisher) {
        let (queue, creations) = mpsc::channel(QUEUE);
        let (stop, stopped) = watch::channel(false);
        let recorder = Self { queue, stop, shared: Arc::clone(&shared) };
        (recorder, Publisher::new(client, reporter, shared, (creations, stopped), pause))
    }

    /// Takes an event, without waiting for anything.
    pub(crate) fn record(&self, mut event: Event) {
        if self.queue.is_closed() {
            return (self.shared.on_drop)();
        }
        object::fit(&mut event);
        let key = Arc::new(Key::of(&event));
        let time = self.shared.clock.now_micro();
        let decision = self.shared.aggregator().observe(&key, Instant::now(), time);
        match decision {
            Decision::Bump => {}
            Decision::Drop => (self.shared.on_drop)(),
            Decision::Create => {
                if let Err(refused) = self.queue.try_send(Creation { key, event, time }) {
                    self.shared.lose(&refused.into_inner().key);
                }
            }
        }
    }

    /// What the publisher was refused because of its namespace; others may add to it.
    pub(crate) fn doomed(&self) -> Doomed {
        self.shared.doomed.clone()
    }

    /// Ends the publisher, after it has sent what it can in two seconds.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Shared {
    /// Held only to count and compare, never while waiting.
    fn aggregator(&self) -> MutexGuard<'_, Aggregator> {
        self.aggregator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up a series, so that the next event of its kind begins a new one.
    fn lose(&self, key: &Key) {
        let lost = self.aggregator().forget(key);
        self.dropped(lost);
    }

    fn dropped(&self, number: u64) {
        (0..number).for_each(|_| (self.on_drop)());
    }
}

#[cfg(test)]
mod tests;
