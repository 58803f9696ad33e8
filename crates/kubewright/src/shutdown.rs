//! When to stop: the first SIGTERM or SIGINT asks for it; the second ends the process at once, because
//! whoever sends it does not want to wait.

use tokio::signal::unix::{SignalKind, signal as listen};
use tracing::{error, info};

/// Resolves with the first signal.
pub(crate) async fn signal() {
    let (terminate, interrupt) = (listen(SignalKind::terminate()), listen(SignalKind::interrupt()));
    let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) else {
        error!("signals cannot be listened to; the process ends only when it is killed");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => info!("SIGTERM: stopping"),
        _ = interrupt.recv() => info!("SIGINT: stopping; once more ends at once"),
    }
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        std::process::exit(130);
    });
}
