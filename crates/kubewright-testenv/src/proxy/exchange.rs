//! One request that a hook decides on: read whole, sent or not, and answered as the hook says.
//!
//! Both bodies are collected, which the proxy does for no other request: a hook wants to see them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::connection::{Connection, ReplyBody, refusal};
use super::hook::{Asked, Broken, Hook, RequestFault};
use super::stream::HookedBody;
use super::watch;

/// How many bytes of a slow answer come one by one.
const SLOW_BYTES: usize = 30;

impl Connection {
    pub(super) async fn hooked(
        &self,
        request: Request<Incoming>,
        hook: Arc<dyn Hook>,
    ) -> Result<Response<ReplyBody>, Broken> {
        let is_watch = watch::is_requested_by(&request);
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let asked = Asked {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            body: body.clone(),
        };
        let fault = hook.request(&asked);
        let request = Request::from_parts(head, body);
        match &fault {
            RequestFault::Close => return Err(Broken::OnPurpose),
            RequestFault::Late(wait) => {
                self.send_late(request, *wait);
                return Err(Broken::OnPurpose);
            }
            RequestFault::Delay(wait) => sleep(*wait).await,
            _ => {}
        }
        let answer = match fault {
            RequestFault::Answer(answer) => return Ok(answer.map(whole)),
            _ => self.exchange(request).await?,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(refused) => return Ok(refused),
        };
        if is_watch && answer.status() == http::StatusCode::OK {
            let (head, body) = self.watch_parts(answer);
            return Ok(Response::from_parts(
                head,
                HookedBody::new(body, asked, hook).boxed_unsync(),
            ));
        }
        let (head, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        hook.answered(&asked, head.status, &body);
        let body = match fault {
            RequestFault::LoseAnswer => return Err(Broken::OnPurpose),
            RequestFault::AnswerInstead(answer) => return Ok(answer.map(whole)),
            RequestFault::Truncate => {
                let half = body.slice(..body.len() / 2);
                pieces([(Duration::ZERO, Ok(half)), (Duration::ZERO, Err(Broken::OnPurpose))])
            }
            RequestFault::Slow(pause) => slow(&body, pause),
            _ => Handed { body: Some(body), asked, hook }.boxed_unsync(),
        };
        Ok(Response::from_parts(head, body))
    }

    /// Sends it over the connection to the API server; answers with a refusal if there is none.
    async fn exchange(
        &self,
        request: Request<Bytes>,
    ) -> Result<Result<Response<Incoming>, Response<ReplyBody>>, Broken> {
        let mut slot = self.session.lock().await;
        let session = match self.open(&mut slot).await {
            Ok(session) => session,
            Err(error) => return Ok(Err(refusal(&error))),
        };
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        Ok(Ok(session.send(request.map(request_body)).await?))
    }

    /// In a task of its own: the client may be gone by then.
    fn send_late(&self, request: Request<Bytes>, wait: Duration) {
        let (shared, generation) = (Arc::clone(&self.shared), self.generation);
        let due = Instant::now() + wait;
        tokio::spawn(async move {
            tokio::time::sleep_until(due).await;
            let mut session = shared.upstream.connect(&shared.faults, generation).await.ok()?;
            let answer = session.send(request.map(request_body)).await.ok()?;
            answer.into_body().collect().await.ok()
        });
    }
}

fn request_body(body: Bytes) -> super::upstream::RequestBody {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

fn whole(body: Bytes) -> ReplyBody {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

fn slow(body: &Bytes, pause: Duration) -> ReplyBody {
    let alone = body.len().min(SLOW_BYTES);
    let mut parts: Vec<_> =
        (0..alone).map(|index| (pause, Ok(body.slice(index..=index)))).collect();
    parts.push((Duration::ZERO, Ok(body.slice(alone..))));
    pieces(parts)
}

/// Each piece after its pause; ends with the body.
fn pieces(parts: impl IntoIterator<Item = (Duration, Result<Bytes, Broken>)>) -> ReplyBody {
    let parts: Vec<_> = parts.into_iter().collect();
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        for (pause, part) in parts {
            tokio::select! {
                () = sleep(pause) => {}
                () = sender.closed() => return,
            }
            if sender.send(part.map(Frame::data)).await.is_err() {
                return;
            }
        }
    });
    Pieces(receiver).boxed_unsync()
}

struct Pieces(mpsc::Receiver<Result<Frame<Bytes>, Broken>>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.0.poll_recv(context)
    }
}

/// An answer that tells the hook when it was taken.
struct Handed {
    body: Option<Bytes>,
    asked: Asked,
    hook: Arc<dyn Hook>,
}

impl Body for Handed {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        if self.body.is_none() {
            self.hook.handed(&self.asked);
        }
    }
}
