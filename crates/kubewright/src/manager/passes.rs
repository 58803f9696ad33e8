//! The threads that the author's code runs on. Code that blocks one of them blocks nothing of the
//! library's; what blocks when the operator ends is left behind.

use tokio::runtime::{Builder, Handle, Runtime};

use super::RunError;

/// With fewer, one pass that blocks would be all it takes.
const LEAST: usize = 4;

/// The runtime of passes.
pub(super) struct Passes(Option<Runtime>);

impl Passes {
    pub(super) fn start() -> Result<Self, RunError> {
        let threads =
            std::thread::available_parallelism().map_or(LEAST, |count| count.get().max(LEAST));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("reconcile")
            .enable_all()
            .build()
            .map_err(RunError::Threads)?;
        Ok(Self(Some(runtime)))
    }

    pub(super) fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
