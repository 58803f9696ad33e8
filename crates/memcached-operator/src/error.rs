//! What a pass can fail at.

use std::borrow::Cow;

use kubewright::{Failure, Retry};

use crate::reconcile::validate::Invalid;

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A handle could not do what it was asked.
    #[error(transparent)]
    Library(#[from] kubewright::Error),
    /// The object asks for something that cannot be.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Failure for Error {
    fn retry(&self) -> Retry {
        match self {
            Self::Library(error) => error.retry(),
            Self::Invalid(_) => Retry::OnChange,
        }
    }

    fn reason(&self) -> Cow<'static, str> {
        match self {
            Self::Library(error) => error.reason(),
            Self::Invalid(_) => kubewright::Reason::Invalid.into(),
        }
    }
}
