//! Tasks of the author's own beside the controllers.

use std::error::Error as StdError;

use kube::Client;

use crate::reconciler::BoxFuture;

/// What a runnable may fail with.
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// A task of your own: any `async` closure that takes a [`kube::Client`].
///
/// ```
/// # use kubewright::prelude::*;
/// let operator = Operator::new("example").runnable("greeter", |_client| async {
///     // … until it is dropped
///     Ok(())
/// });
/// ```
pub trait Runnable: Send + 'static {
    /// Starts it.
    #[doc(hidden)]
    fn start(self: Box<Self>, client: Client) -> BoxFuture<Result<(), BoxError>>;
}

impl<F, R> Runnable for F
where
    F: FnOnce(Client) -> R + Send + 'static,
    R: Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send + 'static,
{
    fn start(self: Box<Self>, client: Client) -> BoxFuture<Result<(), BoxError>> {
        Box::pin(self(client))
    }
}

/// All of an operator, by name.
#[derive(Default)]
pub(crate) struct Runnables(Vec<(&'static str, Box<dyn Runnable>)>);

impl Runnables {
    pub(crate) fn add<R: Runnable>(&mut self, name: &'static str, run: R) {
        self.0.push((name, Box::new(run)));
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = (&'static str, Box<dyn Runnable>)> {
        self.0.into_iter()
    }
}
