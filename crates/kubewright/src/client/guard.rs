//! The layer around every request: a place among those in flight, the deadline for the head of the
//! answer, the report, and the guard around the body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{Request, Response, Uri};
use kube::client::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::{BoxError, Layer, Service};

use super::Unanswered;
use super::body::Guarded;
use crate::metrics::RequestMetrics;

/// No server is left alone for longer, whatever it says.
const LONGEST: Duration = Duration::from_mins(5);

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a guarded client is made of.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) limit: Duration,
    /// Without it, any number of requests may be in flight.
    pub(super) places: Option<Arc<Semaphore>>,
    pub(super) host: Arc<str>,
    pub(super) metrics: RequestMetrics,
}

impl<S> Layer<S> for Guard {
    type Service = GuardedService<S>;

    fn layer(&self, inner: S) -> GuardedService<S> {
        GuardedService { inner, guard: self.clone(), place: None, waiting: None }
    }
}

/// The service with the guard around it.
pub(super) struct GuardedService<S> {
    inner: S,
    guard: Guard,
    place: Option<OwnedSemaphorePermit>,
    waiting: Option<Boxed<Option<OwnedSemaphorePermit>>>,
}

impl<S> GuardedService<S> {
    /// Requests wait here in the order in which they were made. That has no deadline of its own: those
    /// before them do, and a wait for others is no reason to fail.
    fn poll_place(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let (None, Some(places)) = (&self.place, &self.guard.places) {
            let places = Arc::clone(places);
            // Never `None`: nobody closes the semaphore.
            let acquire =
                move || -> Boxed<_> { Box::pin(async { places.acquire_owned().await.ok() }) };
            let waiting = self.waiting.get_or_insert_with(acquire);
            self.place = ready!(waiting.as_mut().poll(context));
            self.waiting = None;
        }
        Poll::Ready(())
    }
}

impl<S, B> Service<Request<Body>> for GuardedService<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<Guarded<B>>;
    type Error = BoxError;
    type Future = Boxed<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        ready!(self.poll_place(context));
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Guard { limit, host, metrics, .. } = self.guard.clone();
        let place = self.place.take();
        let method = request.method().clone();
        let pause = (!is_watch(request.uri())).then_some(limit);
        let answer = self.inner.call(request);
        Box::pin(async move {
            let began = Instant::now();
            let answer = match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => Err(Unanswered::Head(limit).into()),
            };
            let code = answer.as_ref().map(Response::status);
            let code = code.as_ref().map_or("<error>", |code| code.as_str());
            metrics.answered(method.as_str(), &host, code, began.elapsed());
            let answer = answer?;
            if let Some(later) = later(&answer) {
                return Err(later.into());
            }
            Ok(answer.map(|body| Guarded::new(body, pause, place)))
        })
    }
}

/// A refusal for now that is not in the words of Kubernetes, whose `Retry-After` would be lost: a server that
/// has too much to do answers so before it looks at a request.
fn later<B>(answer: &Response<B>) -> Option<Unanswered> {
    let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let is_json = header(CONTENT_TYPE).is_some_and(|content| content.contains("json"));
    let seconds: u64 = header(RETRY_AFTER)?.parse().ok()?;
    let code = answer.status().as_u16();
    let busy = matches!(code, 429 | 503) && !is_json && seconds > 0;
    busy.then(|| Unanswered::Later { code, after: Duration::from_secs(seconds).min(LONGEST) })
}

/// Only a watch is silent while all is well.
fn is_watch(uri: &Uri) -> bool {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.any(|pair| matches!(pair, "watch=true" | "watch=1"))
}
