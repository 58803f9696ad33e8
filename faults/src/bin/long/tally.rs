//! A hook that counts and keeps nothing: there may be a million requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use hyper::body::Bytes;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_faults::label;

/// How many requests were made.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    writes: AtomicUsize,
    others: AtomicUsize,
    strangers: AtomicUsize,
}

impl Tally {
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::Relaxed)
    }

    /// How often it was not known who asked.
    pub(crate) fn strangers(&self) -> usize {
        self.strangers.load(Ordering::Relaxed)
    }

    pub(crate) fn all(&self) -> usize {
        self.writes() + self.others.load(Ordering::Relaxed)
    }
}

impl Hook for Tally {
    fn answered(&self, _: &Asked, status: StatusCode, _: &Bytes) {
        let unknown = usize::from(status == StatusCode::UNAUTHORIZED);
        self.strangers.fetch_add(unknown, Ordering::Relaxed);
    }

    fn request(&self, asked: &Asked) -> RequestFault {
        let counter = if label::is_write(asked) { &self.writes } else { &self.others };
        counter.fetch_add(1, Ordering::Relaxed);
        RequestFault::Pass
    }
}
