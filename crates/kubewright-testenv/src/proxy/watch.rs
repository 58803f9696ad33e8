//! The answer to a watch: its events held back by the delay, and its end by expiry.
//!
//! Owns what a watch is and where one event ends and the next begins. Passes events on as they are,
//! and reads nothing in them but the line feed after each.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::faults::Faults;

/// The last event of a watch whose resource version is gone, as the API server words it.
pub(super) const EXPIRED: &[u8] = concat!(
    r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"#,
    r#""status":"Failure","message":"too old resource version (injected)","#,
    r#""reason":"Expired","code":410}}"#,
    "\n"
)
.as_bytes();

/// How many frames are held at most; when as many wait, the API server's next ones stay in the
/// socket. A frame is what one read brought, up to some hundred kilobytes.
const HELD_LIMIT: usize = 64;

/// Whether the request is for a watch, by the API server's own reading of the parameter: present,
/// and neither `0` nor `false`.
pub(super) fn is_requested_by<B>(request: &Request<B>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let asked = query.split('&').find_map(|pair| match pair.split_once('=') {
        Some(("watch", value)) => Some(value != "0" && !value.eq_ignore_ascii_case("false")),
        None if pair == "watch" => Some(true),
        _ => None,
    });
    request.method() == Method::GET && asked.unwrap_or(false)
}

type FrameResult = Result<Frame<Bytes>, hyper::Error>;
/// A frame, and what yields those after it, if any are to come.
type Next = Option<(FrameResult, Option<Events>)>;
type Step = Pin<Box<dyn Future<Output = Next> + Send>>;

/// A body that yields what [`Events::next`] does. It runs in the task of its connection, so that a
/// dropped connection leaves nothing behind.
pub(super) struct WatchBody {
    step: Option<Step>,
}

impl WatchBody {
    pub(super) fn new(
        upstream: Incoming,
        headers: &HeaderMap,
        faults: Arc<Faults>,
        expiry: oneshot::Receiver<()>,
    ) -> Self {
        let events = Events {
            upstream,
            faults,
            expiry,
            is_json: is_plain_json(headers),
            is_expired: false,
            is_at_boundary: true,
            held: VecDeque::new(),
        };
        Self { step: Some(Box::pin(events.next())) }
    }
}

impl Body for WatchBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<FrameResult>> {
        let Some(step) = &mut self.step else {
            return Poll::Ready(None);
        };
        let (frame, rest) = ready!(step.as_mut().poll(context)).unzip();
        self.step = rest.flatten().map(|events| Box::pin(events.next()) as Step);
        Poll::Ready(frame)
    }
}

fn is_plain_json(headers: &HeaderMap) -> bool {
    let content = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content.and_then(|content| content.split(';').next()).unwrap_or_default();
    media_type.trim() == "application/json" && !headers.contains_key(CONTENT_ENCODING)
}

struct Events {
    upstream: Incoming,
    faults: Arc<Faults>,
    expiry: oneshot::Receiver<()>,
    is_json: bool,
    is_expired: bool,
    /// Nothing of an event has been passed on whose rest has not.
    is_at_boundary: bool,
    /// What came and when; after an end or an error nothing more comes.
    held: VecDeque<(Instant, Option<FrameResult>)>,
}

impl Events {
    /// The next frame for the client; `None` at the proper end.
    async fn next(mut self) -> Next {
        loop {
            if self.is_expired && self.is_at_boundary {
                return self.is_json.then(|| (Ok(Frame::data(Bytes::from_static(EXPIRED))), None));
            }
            let oldest = self.held.front().map_or_else(Instant::now, |(arrival, _)| *arrival);
            tokio::select! {
                biased;
                // An error would mean that the connection was cut: its task is about to end.
                _ = &mut self.expiry, if !self.is_expired => self.is_expired = true,
                () = self.faults.hold(oldest), if !self.held.is_empty() => {
                    let (_, frame) = self.held.pop_front()?;
                    return match frame? {
                        Ok(frame) => Some((Ok(self.pass(frame)), Some(self))),
                        Err(error) => Some((Err(error), None)),
                    };
                }
                frame = self.upstream.frame(), if self.reads_on() => {
                    self.held.push_back((Instant::now(), frame));
                }
                // With all that came passed on, and no more to come.
                else => return None,
            }
        }
    }

    fn reads_on(&self) -> bool {
        let has_ended = matches!(self.held.back(), Some((_, None | Some(Err(_)))));
        !has_ended && self.held.len() < HELD_LIMIT
    }

    /// The frame; if the watch has expired, only up to the end of the event that it completes.
    fn pass(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        let mut data = match frame.into_data() {
            Ok(data) => data,
            Err(trailers) => return trailers,
        };
        if self.is_expired
            && let Some(end) = data.iter().position(|byte| *byte == b'\n')
        {
            data.truncate(end + 1);
        }
        if let Some(last) = data.last() {
            self.is_at_boundary = !self.is_json || *last == b'\n';
        }
        Frame::data(data)
    }
}
