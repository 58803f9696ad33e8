//! Everything the library can fail at, with its cause, its retry and its reason.
//!
//! `Display` never prints the cause: who prints an error prints the [`chain`] once.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt::Write as _;
use std::time::Duration;

use crate::client::Unanswered;
use crate::outcome::{Failure, Retry};
use crate::reason::Reason;

/// What can go wrong when a handle is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API server refused, or could not be reached.
    #[error("cannot {action}")]
    Api {
        /// What was attempted, on which object.
        action: String,
        /// What the API server or the connection said.
        #[source]
        source: Box<kube::Error>,
    },
    /// The operator's role lacks a verb.
    #[error(
        "may not {verb} {resource} (to {action}): the role {role} lacks it; print the roles with `generate rbac` and apply them again"
    )]
    Forbidden {
        /// The verb, as RBAC calls it.
        verb: &'static str,
        /// `plural.group`.
        resource: String,
        /// The name of the generated Role or ClusterRole.
        role: String,
        /// What was attempted, on which object.
        action: String,
        /// What the API server said.
        #[source]
        source: Box<kube::Error>,
    },
    /// The namespace is being deleted; nothing can be created there any more.
    #[error("cannot {action}: the namespace is being deleted")]
    Terminating {
        /// What was attempted, on which object.
        action: String,
    },
    /// The object that a child was to be created for does not exist any more.
    #[error("cannot {action}: its owner is gone")]
    OwnerGone {
        /// What was attempted, on which object.
        action: String,
    },
    /// The name is in use by an object that is not ours. It was not touched.
    #[error("{kind} {name} exists and belongs to {owner}; it was left alone: remove or rename it")]
    Taken {
        /// The kind of the object.
        kind: String,
        /// Its namespace and name.
        name: String,
        /// Who it belongs to, as far as it says.
        owner: String,
    },
    /// Somebody else changes a field as often as we put it back.
    #[error(
        "{kind} {name}: {manager} keeps changing {field}; it is left as it is for some minutes: stop that, or do not set the field here"
    )]
    Contested {
        /// The kind of the object.
        kind: String,
        /// Its namespace and name.
        name: String,
        /// The field that is fought over.
        field: String,
        /// The other field manager.
        manager: String,
        /// How long nothing is written to this object.
        hold: Duration,
    },
    /// An object in the cache does not fit the type it is read as.
    #[error("{kind} {name} cannot be read as such")]
    Undecodable {
        /// The kind of the object.
        kind: String,
        /// Its namespace and name.
        name: String,
        /// What does not fit.
        #[source]
        source: serde_json::Error,
    },
    /// A child must be in the namespace of its owner.
    #[error(
        "{kind} {name} is to be in namespace {namespace:?}, and its owner is in {own:?}: a child belongs into its owner's namespace"
    )]
    Elsewhere {
        /// The kind of the child.
        kind: String,
        /// The child's name.
        name: String,
        /// Where it was to be.
        namespace: String,
        /// Where its owner is.
        own: String,
    },
    /// The owner has no namespace to give to its child.
    #[error("{kind} {name} needs metadata.namespace: its owner has none to give")]
    NoNamespace {
        /// The kind of the child.
        kind: String,
        /// The child's name.
        name: String,
    },
    /// A child was given no name.
    #[error("a {kind} without metadata.name cannot be applied")]
    Unnamed {
        /// The kind of the child.
        kind: String,
    },
    /// The kind cannot be written as JSON.
    #[error("{kind} {name} cannot be written as JSON")]
    Unserializable {
        /// The kind of the object.
        kind: String,
        /// Its name.
        name: String,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// No answer in time. Whether it was done is unknown; the next pass sees it.
    #[error("cannot {action}: no answer within {after:?}")]
    Deadline {
        /// What was attempted, on which object.
        action: String,
        /// How long was waited.
        after: Duration,
    },
    /// The answer was older than what had been told before; it was left aside.
    #[error("cannot {action}: the API server answered with an older state than it had told before")]
    Outdated {
        /// What was attempted.
        action: String,
    },
    /// Another instance leads; nothing is written.
    #[error("cannot {action}: another instance leads")]
    NotLeading {
        /// What was to be done.
        action: String,
    },
    /// The operator is not running: handles work inside a pass only.
    #[error("a handle is of use only inside a running operator")]
    NotRunning,
}

impl Error {
    /// An answer of the API server to `action` of `operator`, classified.
    pub(crate) fn api(
        operator: &str,
        verb: &'static str,
        resource: &str,
        action: String,
        source: kube::Error,
    ) -> Self {
        let source = Box::new(source);
        match &*source {
            kube::Error::Api(status) if is_terminating(status) => Self::Terminating { action },
            kube::Error::Api(status) if status.code == 403 && is_rbac(&status.message) => {
                let (resource, role) = (resource.to_owned(), manager_role(operator));
                Self::Forbidden { verb, resource, role, action, source }
            }
            _ => Self::Api { action, source },
        }
    }

    /// How long a server that has too much to do wants to be left alone.
    fn later(&self) -> Option<Duration> {
        match self {
            Self::Api { source, .. } => Unanswered::later(source),
            _ => None,
        }
    }

    /// The status that the API server answered with, if it did.
    pub(crate) fn status(&self) -> Option<&kube::core::Status> {
        match self {
            Self::Api { source, .. } | Self::Forbidden { source, .. } => match &**source {
                kube::Error::Api(status) => Some(status),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The generated role that lets `operator` reach the objects that it works on.
pub(crate) fn manager_role(operator: &str) -> String {
    format!("{operator}-manager-role")
}

fn is_terminating(status: &kube::core::Status) -> bool {
    let causes = status.details.as_ref().map(|details| details.causes.as_slice());
    causes.unwrap_or_default().iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// Admission refuses with 403 as well; only the authorizer says it like this.
fn is_rbac(message: &str) -> bool {
    message.contains(" cannot ") && message.contains(" resource ")
}

impl Failure for Error {
    fn retry(&self) -> Retry {
        match self {
            Self::Terminating { .. }
            | Self::OwnerGone { .. }
            | Self::Undecodable { .. }
            | Self::Unserializable { .. }
            | Self::Elsewhere { .. }
            | Self::Unnamed { .. }
            | Self::NoNamespace { .. }
            | Self::NotRunning => Retry::OnChange,
            Self::Contested { hold, .. } => Retry::After(*hold),
            _ => match self.status().and_then(|status| status.details.as_ref()) {
                None => self.later().map_or(Retry::Backoff, Retry::After),
                Some(details) if details.retry_after_seconds > 0 => {
                    Retry::After(Duration::from_secs(details.retry_after_seconds.into()))
                }
                _ => Retry::Backoff,
            },
        }
    }

    fn reason(&self) -> Cow<'static, str> {
        let reason = match self {
            Self::Forbidden { .. } => Reason::Forbidden,
            Self::Taken { .. } => Reason::NameTaken,
            Self::Contested { .. } => Reason::Contested,
            Self::Undecodable { .. } | Self::Unserializable { .. } => Reason::Undecodable,
            Self::Elsewhere { .. } | Self::NoNamespace { .. } => Reason::WrongNamespace,
            Self::Deadline { .. } => Reason::TimedOut,
            Self::Api { .. } => match self.status().map(|status| status.code) {
                Some(403) => Reason::Forbidden,
                Some(409) => Reason::Conflict,
                Some(400 | 422) => Reason::Invalid,
                _ => Reason::ApiError,
            },
            _ => Reason::ReconcileFailed,
        };
        reason.as_str().into()
    }
}

/// An error and its causes as one sentence. An API server's answer is its message alone, which kube
/// prints three times over.
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let answer = answer(error);
        let said = answer.map_or_else(|| error.to_string(), |status| status.message.clone());
        if text.is_empty() {
            text = said;
        } else if !text.ends_with(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = if answer.is_some() { None } else { error.source() };
    }
    text
}

/// What the API server answered, if that is what the error is about.
fn answer<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a kube::core::Status> {
    let boxed = error.downcast_ref::<Box<kube::Error>>().map(|error| &**error);
    match error.downcast_ref::<kube::Error>().or(boxed)? {
        kube::Error::Api(status) if !status.message.is_empty() => Some(status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16, message: &str) -> Error {
        let status = kube::core::Status::failure(message, "").with_code(code);
        Error::api(
            "guestbook",
            "patch",
            "deployments.apps",
            "change Deployment a/b".into(),
            kube::Error::Api(status.boxed()),
        )
    }

    #[test]
    fn the_answer_of_the_api_server_is_said_once() {
        let error = answered(422, "spec.replicas: must not be negative");
        assert_eq!(
            chain(&error),
            "cannot change Deployment a/b: spec.replicas: must not be negative"
        );
        assert_eq!(error.reason(), "Invalid");
    }

    #[test]
    fn a_missing_permission_names_verb_resource_and_remedy() {
        let message = "deployments.apps \"b\" is forbidden: User \"u\" cannot patch resource \"deployments\" in API group \"apps\"";
        let error = answered(403, message);
        assert!(error.to_string().starts_with("may not patch deployments.apps"), "{error}");
        assert!(error.to_string().contains("the role guestbook-manager-role lacks it"), "{error}");
        assert!(error.to_string().contains("generate rbac"), "{error}");
        assert_eq!((error.reason().as_ref(), error.retry()), ("Forbidden", Retry::Backoff));
    }

    #[test]
    fn the_role_that_is_named_is_one_that_is_generated() {
        use crate::generate::rbac::{Access, Scope, roles, rule};
        let access = Access { rules: vec![rule("", "pods", &["list"])], ..Access::default() };
        let objects = roles(&access, "guestbook", "system", &Scope::Cluster);
        let names = serde_json::to_string(&objects).unwrap();
        assert!(names.contains(&format!("{:?}", manager_role("guestbook"))), "{names}");
    }

    #[test]
    fn what_a_quota_refuses_is_not_taken_for_a_missing_permission() {
        let error =
            answered(403, "pods \"b\" is forbidden: exceeded quota: compute, requested: pods=1");
        assert!(matches!(error, Error::Api { .. }), "{error:?}");
    }

    #[test]
    fn a_server_that_says_when_is_asked_then() {
        let mut status = kube::core::Status::failure("slow down", "TooManyRequests").with_code(429);
        let details = serde_json::json!({"retryAfterSeconds": 30});
        status.details = serde_json::from_value(details).unwrap();
        let error = Error::api(
            "guestbook",
            "patch",
            "x",
            "change X y".into(),
            kube::Error::Api(status.boxed()),
        );
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(30)));
    }
}
