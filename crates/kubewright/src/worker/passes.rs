//! The threads that the author's code runs on: one for each pass that runs at the moment, kept for the
//! next. Code that blocks its thread blocks nothing of the library's and no other pass; what blocks when
//! the operator ends is left behind.
//!
//! With a pool whose threads take work from each other, each that wakes wakes another to look for more: 19
//! calls of `futex` were counted for each new object.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Threads beyond those of the workers, for passes that block theirs for ever. After as many the rest
/// waits; long before that `/healthz` has failed, and the kubelet has restarted the pod.
const BLOCKED: usize = 64;

/// The threads of all passes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Passes {
    idle: Arc<Mutex<Vec<Seat>>>,
    places: Arc<Semaphore>,
}

/// A thread that one pass at a time runs on. It ends when this is dropped, or else with the pass that
/// blocks it.
pub(super) struct Seat {
    runtime: Option<Runtime>,
    _place: OwnedSemaphorePermit,
}

impl Passes {
    /// For so many passes at a time. No thread is started before it is needed.
    pub(crate) fn new(at_once: usize) -> Self {
        let most = at_once.saturating_add(BLOCKED).min(Semaphore::MAX_PERMITS);
        Self { idle: Arc::default(), places: Arc::new(Semaphore::new(most)) }
    }

    /// A thread that is free, or a new one.
    pub(super) async fn seat(&self) -> io::Result<Seat> {
        if let Some(seat) = self.idle().pop() {
            return Ok(seat);
        }
        let place = self.places.clone().acquire_owned().await.map_err(io::Error::other)?;
        let mut builder = Builder::new_multi_thread(); // one that an author may block in place
        let runtime = builder.worker_threads(1).thread_name("reconcile").enable_all().build()?;
        Ok(Seat { runtime: Some(runtime), _place: place })
    }

    /// Keeps it for the next pass.
    pub(super) fn free(&self, seat: Seat) {
        self.idle().push(seat);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Seat>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    pub(super) fn handle(&self) -> Handle {
        self.runtime.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
