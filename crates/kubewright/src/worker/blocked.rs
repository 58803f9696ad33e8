//! Passes that block their thread: nothing can end them, so they are told by name, and the process is
//! unhealthy while there is one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::key::Key;

/// The passes that block. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Blocked(Arc<Mutex<BTreeMap<String, Instant>>>);

/// One pass that blocks, for as long as it is held.
pub(super) struct Mark {
    blocked: Blocked,
    name: String,
}

impl Blocked {
    pub(super) fn mark(&self, controller: &str, key: &Key) -> Mark {
        let name = format!("{controller} {key}");
        let mut blocked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocked.insert(name.clone(), Instant::now());
        Mark { blocked: self.clone(), name }
    }

    /// Fails with the names of those that block.
    pub(crate) fn check(&self) -> Result<(), String> {
        let blocked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if blocked.is_empty() {
            return Ok(());
        }
        let names = blocked.iter().map(|(name, since)| {
            format!(
                "the reconcile of {name} blocks its thread since {} s",
                since.elapsed().as_secs()
            )
        });
        Err(names.collect::<Vec<_>>().join("; "))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let mut blocked = self.blocked.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocked.remove(&self.name);
    }
}
