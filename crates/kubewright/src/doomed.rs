//! Which objects go with their namespace: the API server has refused to create something for them there,
//! and would refuse everything else. Only remembers; nothing is asked.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::intent::digest;

/// How many objects are remembered, at eight bytes each; beyond it, each may be tried once more.
const MOST_OBJECTS: usize = 100_000;
const MOST_NAMESPACES: usize = 1024;
/// A namespace may be gone and made anew by then.
const NAMESPACE_FOR: Duration = Duration::from_secs(30);

/// What goes with its namespace. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Doomed(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// By the digest of their uids, which never come back.
    objects: HashSet<u64>,
    /// Since when it is known.
    namespaces: HashMap<String, Instant>,
}

impl Doomed {
    /// The API server refused to create something for the object `uid`, because `namespace` is going.
    pub(crate) fn add(&self, uid: &str, namespace: &str) {
        let mut known = self.known();
        if known.objects.len() >= MOST_OBJECTS {
            known.objects.clear();
        }
        if known.namespaces.len() >= MOST_NAMESPACES {
            known.namespaces.clear();
        }
        known.objects.insert(digest(uid.as_bytes()));
        known.namespaces.insert(namespace.to_owned(), Instant::now());
    }

    /// True if nothing can be created for this object any more.
    pub(crate) fn contains(&self, uid: &str) -> bool {
        self.known().objects.contains(&digest(uid.as_bytes()))
    }

    /// True if nothing could be created in this namespace a moment ago.
    pub(crate) fn contains_namespace(&self, namespace: &str) -> bool {
        let known = self.known();
        known.namespaces.get(namespace).is_some_and(|since| since.elapsed() < NAMESPACE_FOR)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_object_is_remembered_and_a_namespace_for_a_while() {
        let doomed = Doomed::default();
        doomed.add("1", "a");
        assert!(doomed.contains("1") && !doomed.contains("2"));
        assert!(doomed.contains_namespace("a") && !doomed.contains_namespace("b"));
        tokio::time::advance(NAMESPACE_FOR).await;
        assert!(doomed.contains("1") && !doomed.contains_namespace("a"));
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let doomed = Doomed::default();
        for number in 0..MOST_OBJECTS + 10 {
            doomed.add(&number.to_string(), &number.to_string());
        }
        let known = doomed.known();
        assert!(known.objects.len() <= MOST_OBJECTS && known.namespaces.len() <= MOST_NAMESPACES);
    }
}
