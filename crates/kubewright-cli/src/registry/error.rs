//! What goes wrong between this program and a registry, in words that say what to do.

/// Why a push failed, or the look at an image.
#[derive(Debug, thiserror::Error)]
pub(super) enum PushError {
    /// No answer.
    #[error("cannot reach the registry {registry}: check its name, and try again when it is up")]
    Unreachable {
        registry: String,
        #[source]
        source: Box<ureq::Error>,
    },
    /// A certificate that this machine does not trust, or none at all.
    #[error(
        "no secure connection to the registry {registry}: if it speaks plain HTTP and you mean it, \
         add --plain-http"
    )]
    Insecure {
        registry: String,
        #[source]
        source: Box<ureq::Error>,
    },
    /// 401 and 403.
    #[error(
        "the registry {registry} does not let you push to {repository}{said}: \
         sign in with `docker login {registry}`, as somebody who may"
    )]
    Refused { registry: String, repository: String, said: String },
    /// 404.
    #[error(
        "the registry {registry} has no place for {repository}{said}: \
         make the repository there, or check its name"
    )]
    Absent { registry: String, repository: String, said: String },
    /// 401 and 403 to who reads. Some registries say this of what they do not have, too.
    #[error(
        "the registry {registry} does not let you read {image}{said}: check its name, or sign in with \
         `docker login {registry}`"
    )]
    Unreadable { registry: String, image: String, said: String },
    /// 404 to who reads.
    #[error(
        "the registry {registry} has no image {image}{said}: push it with \
         `kubewright bundle push {image}`, or check its name"
    )]
    NoImage { registry: String, image: String, said: String },
    /// What came is not what its name says, or nothing that is known here.
    #[error("cannot use {image}: {reason}")]
    Unusable { image: String, reason: String },
    /// Any other answer than the protocol's.
    #[error("the registry {registry} answered {status} to {what}{said}")]
    Answer { registry: String, status: u16, what: &'static str, said: String },
    /// It wants the password where others can read it.
    #[error("the registry {registry} wants your password sent to {realm}, which is not encrypted")]
    Realm { registry: String, realm: String },
    /// It wants to be convinced in a way that is not known here.
    #[error("the registry {registry} wants an authentication that is not supported: {wanted:?}")]
    Unsupported { registry: String, wanted: String },
}

impl PushError {
    /// Without what to do, for as long as it is done here.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Unreachable { registry, .. } => format!("cannot reach the registry {registry}"),
            other => other.to_string(),
        }
    }

    /// True if the same request may succeed a moment later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => !matches!(**source, ureq::Error::HostNotFound),
            Self::Answer { status, .. } => matches!(status, 408 | 429 | 500..),
            _ => false,
        }
    }
}
