//! How a pass ends, and how a failed one is tried again.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::time::Duration;

use crate::reason::Reason;

/// What a successful pass says about the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as it should be; the next pass comes with the next change.
    Done,
    /// Something is awaited that no watch will tell: look again after this time, or at the next change.
    After(Duration),
}

/// When a failed pass is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// After a delay of the object's own that doubles with every failure, from 5 ms to a cap.
    Backoff,
    /// After this time.
    After(Duration),
    /// Only when the object or something it depends on changes: trying again would fail again.
    OnChange,
}

/// An error that says how it is to be retried, and what to call it in a condition.
///
/// ```
/// use kubewright::prelude::*;
///
/// #[derive(Debug, thiserror::Error)]
/// enum ShelfError {
///     #[error(transparent)]
///     Library(#[from] kubewright::Error),
///     #[error("spec.books is {0}, and a shelf holds 9 at most")]
///     Full(i32),
/// }
///
/// impl Failure for ShelfError {
///     fn retry(&self) -> Retry {
///         match self {
///             Self::Library(error) => error.retry(),
///             Self::Full(_) => Retry::OnChange,
///         }
///     }
///     fn reason(&self) -> std::borrow::Cow<'static, str> {
///         match self {
///             Self::Library(error) => error.reason(),
///             Self::Full(_) => "Full".into(),
///         }
///     }
/// }
/// assert_eq!(ShelfError::Full(10).retry(), Retry::OnChange);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how a failed pass is retried",
    note = "`impl Failure for {Self} {{}}` retries with back-off; override `retry` and `reason`; or use `kubewright::Error`"
)]
pub trait Failure: StdError + Send + Sync + 'static {
    /// When to try again.
    fn retry(&self) -> Retry {
        Retry::Backoff
    }

    /// One word in `PascalCase` for the condition, the event and the metrics. Keep the number of
    /// different ones small.
    fn reason(&self) -> Cow<'static, str> {
        Reason::ReconcileFailed.as_str().into()
    }
}
