//! Clients of the API server that cannot hang.
//!
//! Owns deadlines, the bound on requests in flight, the user agent and the reporting of requests; what
//! is asked and what follows from an answer is the caller's.
//!
//! # Guarantees
//! - Connecting, writing, and waiting for the head of an answer each have a deadline, and so has the
//!   time between two pieces of a body. Only the body of a watch may be silent for as long as it likes.
//! - No request is repeated here, not even one that was answered with 429 or 503 and `Retry-After`:
//!   whoever asked fails, and the queue brings the object back then, or with its back-off. Repeating in
//!   both places would multiply the load on a server that asks for less.

mod body;
mod guard;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use kube::Config;
use kube::client::ClientBuilder;
use tokio::sync::Semaphore;

use crate::metrics::RequestMetrics;
use guard::Guard;

/// A connection to a server that is there takes milliseconds; more means that it is not.
const CONNECT: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(10);
/// Each request in flight has a connection of its own (HTTP/1.1).
const IN_FLIGHT: usize = 64;

/// What a client is for; it decides how long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reads and writes of single objects, at most 64 at a time.
    Requests,
    /// Lists and watches.
    Watches,
    /// The lease, which is lost if it is not renewed in time.
    Lease,
}

impl Purpose {
    /// How long the head of an answer may take, and how long the pause between two pieces of its body.
    fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Self::Requests => 10,
            Self::Watches => 30, // a page of a list of large objects
            Self::Lease => 8, // longer than any attempt; the election says how long each may take
        })
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("`{0}` cannot be part of a user agent; name the operator with ASCII characters")]
    Name(String),
    #[error("cannot make a client out of the configuration of the cluster")]
    Configuration(#[source] kube::Error),
}

/// Why an answer was given up; found inside a `kube::Error::Service`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("the API server did not begin to answer within {0:?}")]
    Head(Duration),
    #[error("the API server began to answer and then sent nothing for {0:?}")]
    Body(Duration),
    /// What protects the server from too many requests answers so, in plain text.
    #[error(
        "the API server has too much to do (HTTP {code}) and asks to be asked again after {after:?}"
    )]
    Later {
        /// 429 or 503.
        code: u16,
        /// What `Retry-After` says.
        after: Duration,
    },
}

impl Unanswered {
    /// How long the API server wants to be left alone, if that is why a request failed.
    pub(crate) fn later(error: &kube::Error) -> Option<Duration> {
        let kube::Error::Service(source) = error else { return None };
        match source.downcast_ref() {
            Some(Self::Later { after, .. }) => Some(*after),
            _ => None,
        }
    }
}

/// A client for `purpose`. `name` is the operator's, with its version if it has one
/// (`guestbook-operator/0.1.0`); the audit log of the API server shows it.
pub(crate) fn client(
    config: Config,
    purpose: Purpose,
    name: &str,
    metrics: RequestMetrics,
) -> Result<kube::Client, ClientError> {
    limited(config, purpose, purpose.limit(), name, metrics)
}

fn limited(
    mut config: Config,
    purpose: Purpose,
    limit: Duration,
    name: &str,
    metrics: RequestMetrics,
) -> Result<kube::Client, ClientError> {
    let agent = user_agent(name);
    let agent = HeaderValue::from_str(&agent).map_err(|_| ClientError::Name(name.to_owned()))?;
    config.headers.push((http::header::USER_AGENT, agent));
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.write_timeout = Some(WRITE);
    let guard = Guard {
        limit,
        places: (purpose == Purpose::Requests).then(|| Arc::new(Semaphore::new(IN_FLIGHT))),
        host: config.cluster_url.authority().map_or("", |authority| authority.as_str()).into(),
        metrics,
    };
    let builder = ClientBuilder::try_from(config).map_err(ClientError::Configuration)?;
    Ok(builder.with_layer(&guard).build())
}

/// As Go's clients write it, with Go's names for the architectures.
fn user_agent(name: &str) -> String {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{name} ({}/{architecture}) kubewright", std::env::consts::OS)
}
