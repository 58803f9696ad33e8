//! Tells a standby at once that the lease has changed, by a watch of it. A help, not a need: where the
//! server does not tell, the standby looks every few seconds.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use k8s_openapi::api::coordination::v1::Lease;
use kube::core::WatchEvent;

use super::request::Leases;

/// The watch of a lease, while there is one.
#[derive(Default)]
pub(super) struct News {
    events: Option<BoxStream<'static, kube::Result<WatchEvent<Lease>>>>,
    /// Where a watch would begin.
    version: Option<String>,
}

impl News {
    /// The lease was read, and this is its version.
    pub(super) fn read(&mut self, version: Option<String>) {
        self.version = version;
    }

    /// True if a change would be told.
    pub(super) fn are_told(&self) -> bool {
        self.events.is_some()
    }

    /// From now on nothing is told, for it is of no interest, or the watch seems dead.
    pub(super) fn end(&mut self) {
        self.events = None;
    }

    /// Resolves when the lease has changed; never if that is not told. Dropping it loses nothing.
    pub(super) async fn changed(&mut self, leases: &Leases, limit: Duration) {
        if self.events.is_none()
            && let Some(version) = self.version.take()
        {
            self.events = leases.watch(&version, limit).await.ok();
        }
        while let Some(events) = &mut self.events {
            match events.next().await {
                Some(Ok(WatchEvent::Bookmark(_))) => {}
                Some(Ok(WatchEvent::Error(_)) | Err(_)) | None => self.events = None,
                Some(Ok(_)) => return,
            }
        }
        std::future::pending::<()>().await;
    }
}
