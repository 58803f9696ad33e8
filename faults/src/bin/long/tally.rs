//! A hook that counts and keeps nothing: there may be a million requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, StatusCode};
use hyper::body::Bytes;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_faults::label;

/// How many requests were made.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    writes: AtomicUsize,
    lists: AtomicUsize,
    others: AtomicUsize,
    strangers: AtomicUsize,
}

impl Tally {
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::Relaxed)
    }

    /// How many lists were begun; further pages of one are not others.
    pub(crate) fn lists(&self) -> usize {
        self.lists.load(Ordering::Relaxed)
    }

    /// How often it was not known who asked.
    pub(crate) fn strangers(&self) -> usize {
        self.strangers.load(Ordering::Relaxed)
    }

    pub(crate) fn all(&self) -> usize {
        self.writes() + self.lists() + self.others.load(Ordering::Relaxed)
    }
}

impl Hook for Tally {
    fn answered(&self, _: &Asked, status: StatusCode, _: &Bytes) {
        let unknown = usize::from(status == StatusCode::UNAUTHORIZED);
        self.strangers.fetch_add(unknown, Ordering::Relaxed);
    }

    fn request(&self, asked: &Asked) -> RequestFault {
        let counter = match asked {
            asked if label::is_write(asked) => &self.writes,
            asked if begins_a_list(asked) => &self.lists,
            _ => &self.others,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        RequestFault::Pass
    }
}

fn begins_a_list(asked: &Asked) -> bool {
    let place = label::place(&asked.path);
    let further = ["watch=", "continue="].iter().any(|part| asked.query.contains(part));
    asked.method == Method::GET && !place.resource.is_empty() && place.name.is_empty() && !further
}
