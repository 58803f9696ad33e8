//! From one HTTP request to its answer: which webhook is meant, and the bounds on what a request may cost.
//!
//! The author's code, and reading and writing JSON, run on threads for blocking work; nothing of it can keep
//! the lease or the probes waiting. What cannot be done is refused by a status and a sentence.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tracing::{debug, error};

use super::hook::{Answer, Hook};
use crate::error::chain;
use crate::generate::webhook::Purpose;
use crate::metrics::{WebhookMetrics, Webhooks};
use crate::worker::said;

/// What the generated configurations give a call; nobody waits for a later answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// So many are worked on at a time; the others wait for their turn, each at most until its deadline.
const AT_ONCE: usize = 16;
/// The API server takes objects of up to 3 MB; a review has the old and the new one.
const LARGEST_ADMISSION: usize = 7 << 20;
/// A list is converted in one call.
const LARGEST_CONVERSION: usize = 32 << 20;
/// All bodies together. Counted in units, because a semaphore counts to 2^32 at most.
const MEMORY: usize = 32 << 20;
const UNIT: usize = 1 << 10;

/// The webhooks of an operator by their paths, and what they share.
pub(crate) struct Routes {
    by_path: HashMap<String, Route>,
    places: Arc<Semaphore>,
    memory: Semaphore,
}

struct Route {
    answer: Answer,
    largest: usize,
    metrics: WebhookMetrics,
}

/// A refusal by HTTP.
struct Refused(StatusCode, String);

impl Routes {
    pub(crate) fn new(hooks: Vec<Hook>, metrics: &Webhooks) -> Self {
        let route = |Hook { about, answer }: Hook| {
            let path = about.path();
            let largest = match about.purpose {
                Purpose::Convert => LARGEST_CONVERSION,
                Purpose::Mutate | Purpose::Validate => LARGEST_ADMISSION,
            };
            let metrics = metrics.webhook(&path);
            (path, Route { answer, largest, metrics })
        };
        Self {
            by_path: hooks.into_iter().map(route).collect(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            memory: Semaphore::new(MEMORY / UNIT),
        }
    }

    /// Never fails: what goes wrong is an answer too.
    pub(super) async fn answer(
        &self,
        request: http::Request<Incoming>,
    ) -> Result<http::Response<Full<Bytes>>, Infallible> {
        let Some(route) = self.by_path.get(request.uri().path()) else {
            return Ok(refusal(&Refused(StatusCode::NOT_FOUND, "there is no such webhook".into())));
        };
        let begun = Instant::now();
        let running = route.metrics.begin();
        let answered = timeout(DEADLINE, self.worked(route, request)).await.unwrap_or_else(|_| {
            Err(Refused(StatusCode::GATEWAY_TIMEOUT, format!("no answer within {DEADLINE:?}")))
        });
        let response = match answered {
            Ok(body) => response(StatusCode::OK, "application/json", body),
            Err(refused) => {
                debug!(code = refused.0.as_u16(), reason = refused.1, "refused a webhook call");
                refusal(&refused)
            }
        };
        running.end(response.status().as_u16(), begun.elapsed());
        Ok(response)
    }

    async fn worked(
        &self,
        route: &Route,
        request: http::Request<Incoming>,
    ) -> Result<Vec<u8>, Refused> {
        let length = checked(route, &request)?;
        let units = u32::try_from(length / UNIT + 1).unwrap_or(u32::MAX);
        let units = units.min(u32::try_from(MEMORY / UNIT).unwrap_or(u32::MAX));
        // Neither semaphore is ever closed.
        let _memory = self.memory.acquire_many(units).await;
        let body = Limited::new(request.into_body(), length).collect().await.map_err(|error| {
            Refused(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))
        })?;
        let (body, answer) = (body.to_bytes(), route.answer.clone());
        let place = self.places.clone().acquire_owned().await;
        let work = tokio::task::spawn_blocking(move || {
            let _place = place; // kept for as long as the thread is, even if nobody waits any more
            std::panic::catch_unwind(AssertUnwindSafe(|| answer(&body)))
        });
        match work.await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(unreadable))) => Err(Refused(StatusCode::BAD_REQUEST, chain(&unreadable))),
            Ok(Err(panic)) => {
                route.metrics.panicked();
                let said = said(&*panic);
                error!(error = said, "a webhook panicked");
                Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, format!("panicked: {said}")))
            }
            Err(error) => Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
        }
    }
}

/// How long the body is, before any of it is read.
fn checked(route: &Route, request: &http::Request<Incoming>) -> Result<usize, Refused> {
    if request.method() != Method::POST {
        return Err(Refused(StatusCode::METHOD_NOT_ALLOWED, "a webhook takes POST".into()));
    }
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if !header(CONTENT_TYPE).is_some_and(|value| value.starts_with("application/json")) {
        let told = "a webhook takes application/json";
        return Err(Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, told.into()));
    }
    let Some(length) = header(CONTENT_LENGTH).and_then(|value| value.parse().ok()) else {
        return Err(Refused(StatusCode::LENGTH_REQUIRED, "say how long the body is".into()));
    };
    if length > route.largest {
        let told = format!("the body has {length} bytes, and {} are taken", route.largest);
        return Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, told));
    }
    Ok(length)
}

fn refusal(Refused(status, reason): &Refused) -> http::Response<Full<Bytes>> {
    response(*status, "text/plain; charset=utf-8", format!("{reason}\n").into_bytes())
}

fn response(
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
) -> http::Response<Full<Bytes>> {
    let mut response = http::Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let value = http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, value);
    response
}
