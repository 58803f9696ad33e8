//! From one HTTP request to its answer: which webhook is meant, and the bounds on what a request may cost.
//!
//! The author's code, and reading and writing JSON, run on threads for blocking work; nothing of it can keep
//! the lease or the probes waiting. What cannot be done is refused by a status and a sentence.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use tokio::time::{Instant, timeout};
use tracing::{debug, error};

use super::hook::{Answer, Hook};
use super::memory::{Memory, Share};
use super::places::Places;
use crate::error::chain;
use crate::generate::webhook::Purpose;
use crate::metrics::{WebhookMetrics, Webhooks};
use crate::worker::said;

/// The generated configurations give a call 10 s, which began before it was here; nobody hears a later answer.
const DEADLINE: Duration = Duration::from_secs(9);
/// The API server takes objects of up to 3 MB; a review has the old and the new one.
const LARGEST_ADMISSION: usize = 7 << 20;
/// A list is converted in one call.
const LARGEST_CONVERSION: usize = 14 << 20;
/// How many times its body a call takes at most, measured with objects of many little fields: what is read, the
/// objects before and after, and their texts.
const COST_OF_VALIDATION: usize = 7;
const COST_OF_DEFAULTS: usize = 10;
const COST_OF_CONVERSION: usize = 5;

/// The webhooks of an operator by their paths, and what they share.
pub(crate) struct Routes {
    by_path: HashMap<String, Route>,
    places: Places,
    memory: Memory,
}

struct Route {
    answer: Answer,
    largest: usize,
    cost: usize,
    metrics: WebhookMetrics,
}

/// A refusal by HTTP.
struct Refused(StatusCode, String);

impl Routes {
    pub(crate) fn new(hooks: Vec<Hook>, metrics: &Webhooks) -> Self {
        let route = |Hook { about, answer }: Hook| {
            let path = about.path();
            let (largest, cost) = bounds(about.purpose);
            let metrics = metrics.webhook(&path);
            (path, Route { answer, largest, cost, metrics })
        };
        Self {
            by_path: hooks.into_iter().map(route).collect(),
            places: Places::new(),
            memory: Memory::new(),
        }
    }

    /// Where calls are worked on, for the liveness check.
    pub(crate) fn places(&self) -> Places {
        self.places.clone()
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
    ) -> Result<Bytes, Refused> {
        let length = checked(route, &request)?;
        let (body, share) =
            read(request.into_body(), length, route.cost, self.memory.share()).await?;
        let answer = route.answer.clone();
        let place = self.places.take().await;
        let work = tokio::task::spawn_blocking(move || {
            // Kept for as long as the thread is, even if nobody waits any more.
            let (_place, body, share) = (place, body, share);
            (std::panic::catch_unwind(AssertUnwindSafe(|| answer(&body))), share)
        });
        match work.await {
            Ok((Ok(Ok(answer)), share)) => Ok(held(answer, share)),
            Ok((Ok(Err(unreadable)), _)) => {
                Err(Refused(StatusCode::BAD_REQUEST, chain(&unreadable)))
            }
            Ok((Err(panic), _)) => {
                route.metrics.panicked();
                let said = said(&*panic);
                error!(error = said, "a webhook panicked");
                Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, format!("panicked: {said}")))
            }
            Err(error) => Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
        }
    }
}

/// The largest body of a call, and how many times as much memory it takes.
fn bounds(purpose: Purpose) -> (usize, usize) {
    match purpose {
        Purpose::Convert => (LARGEST_CONVERSION, COST_OF_CONVERSION),
        Purpose::Mutate => (LARGEST_ADMISSION, COST_OF_DEFAULTS),
        Purpose::Validate => (LARGEST_ADMISSION, COST_OF_VALIDATION),
    }
}

/// Reads a body of up to `length` bytes, and takes memory for what has come: `cost` times as much.
async fn read(
    body: Incoming,
    length: usize,
    cost: usize,
    mut share: Share,
) -> Result<(Vec<u8>, Share), Refused> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Refused(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))
    };
    let (mut body, mut read) = (Limited::new(body, length), Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| unreadable(&error))?.into_data() else { continue };
        let needed = read.len() + data.len();
        share.grow(needed * cost).await;
        // Twice as much whenever it is full, but never more than will come.
        if read.capacity() < needed {
            read.reserve_exact(
                (2 * read.capacity()).clamp(needed, length.max(needed)) - read.len(),
            );
        }
        read.extend_from_slice(&data);
    }
    Ok((read, share))
}

/// An answer that keeps its share of the memory until it is written.
fn held(answer: Vec<u8>, mut share: Share) -> Bytes {
    struct Held(Vec<u8>, #[expect(dead_code, reason = "kept until it is dropped")] Share);
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    share.shrink(answer.len());
    Bytes::from_owner(Held(answer, share))
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
    response(*status, "text/plain; charset=utf-8", format!("{reason}\n").into())
}

fn response(
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
) -> http::Response<Full<Bytes>> {
    let mut response = http::Response::new(Full::new(body));
    *response.status_mut() = status;
    let value = http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, value);
    response
}

#[cfg(test)]
mod tests {
    use super::super::memory::BEYOND;
    use super::*;

    #[test]
    fn no_call_takes_more_than_the_one_that_may_go_beyond() {
        for purpose in [Purpose::Mutate, Purpose::Validate, Purpose::Convert] {
            let (largest, cost) = bounds(purpose);
            assert!(largest * cost <= BEYOND, "{purpose:?}");
        }
    }
}
