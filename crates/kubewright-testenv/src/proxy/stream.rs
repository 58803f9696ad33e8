//! A watch whose events a hook decides on, one line after the other.
//!
//! Reads the answer of the API server in a task that ends with the body. Changes no event: it hands them
//! on, holds them, repeats them, or ends the watch.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::hook::{Asked, Broken, Event, EventFault, Hook};
use super::watch::{EXPIRED, WatchBody};

/// How long an event waits for the one that is to overtake it.
const OVERTAKING: Duration = Duration::from_secs(1);

type FrameResult = Result<Frame<Bytes>, Broken>;

/// What the client gets of a watch.
pub(super) struct HookedBody {
    frames: mpsc::Receiver<FrameResult>,
    _reader: JoinSet<()>,
}

impl HookedBody {
    pub(super) fn new(upstream: WatchBody, asked: Asked, hook: Arc<dyn Hook>) -> Self {
        let (sender, frames) = mpsc::channel(16);
        let lines = Lines { upstream, buffer: Vec::new() };
        let stream = Stream { lines, sender, asked, hook, held: None, version: None };
        let mut reader = JoinSet::new();
        reader.spawn(async move { stream.run().await.unwrap_or_default() });
        Self { frames, _reader: reader }
    }
}

impl Body for HookedBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<FrameResult>> {
        self.frames.poll_recv(context)
    }
}

struct Lines {
    upstream: WatchBody,
    buffer: Vec<u8>,
}

impl Lines {
    /// The next line with its end; `None` at the end of all. Nothing is lost when this is dropped.
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                return Some(Ok(self.buffer.drain(..=end).collect()));
            }
            match self.upstream.frame().await? {
                Ok(frame) => self.buffer.extend(frame.into_data().unwrap_or_default()),
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}

/// An event that waits for another.
struct Held {
    line: Bytes,
    event: Event,
    until: Instant,
    /// Whether another of the same object makes it obsolete; else any is to overtake it.
    is_hidden: bool,
}

struct Stream {
    lines: Lines,
    sender: mpsc::Sender<FrameResult>,
    asked: Asked,
    hook: Arc<dyn Hook>,
    held: Option<Held>,
    /// The version that the client has seen last.
    version: Option<String>,
}

impl Stream {
    /// Runs until either side has had enough.
    async fn run(mut self) -> Option<()> {
        loop {
            let until = self.held.as_ref().map(|held| held.until);
            let next = match until {
                Some(until) => timeout_at(until, self.lines.next()).await,
                None => Ok(self.lines.next().await),
            };
            match next {
                Err(_) => self.is_overdue().await?,
                Ok(None) => return Some(()),
                Ok(Some(Err(error))) => return self.sender.send(Err(error)).await.ok(),
                Ok(Some(Ok(line))) => match serde_json::from_slice::<Event>(&line) {
                    Ok(event) => self.decide(line, event).await?,
                    Err(_) => self.hand(line).await?,
                },
            }
        }
    }

    async fn decide(&mut self, line: Bytes, event: Event) -> Option<()> {
        let is_obsolete = |held: &Held| held.is_hidden && held.event.key() == event.key();
        if self.held.as_ref().is_some_and(is_obsolete) {
            self.held = None;
        }
        let fault = self.hook.event(&self.asked, &event);
        let hold = |is_hidden, wait| {
            let until = Instant::now() + wait;
            Some(Held { line: line.clone(), event: event.clone(), until, is_hidden })
        };
        match fault {
            EventFault::Drop => return Some(()),
            EventFault::Reorder => self.held = hold(false, OVERTAKING),
            EventFault::Hide(wait) => self.held = hold(true, wait),
            EventFault::Expire => return self.expire().await,
            EventFault::Disconnect => {
                self.sender.send(Err(Broken::OnPurpose)).await.ok()?;
                return None;
            }
            EventFault::Delay(wait) => sleep(wait).await,
            EventFault::Bookmarks(wait) => {
                self.bookmark(&event).await?;
                sleep(wait).await;
            }
            EventFault::Pass | EventFault::Duplicate => {}
        }
        if matches!(fault, EventFault::Reorder | EventFault::Hide(_)) {
            return Some(());
        }
        self.version = event.version().map(str::to_owned);
        self.hand(line.clone()).await?;
        if fault == EventFault::Duplicate {
            self.hand(line).await?;
        }
        match self.held.take_if(|held| !held.is_hidden) {
            Some(overtaken) => self.hand(overtaken.line).await,
            None => Some(()),
        }
    }

    /// What was to be overtaken was not, or what was to be made obsolete was not.
    async fn is_overdue(&mut self) -> Option<()> {
        match self.held.take()? {
            Held { is_hidden: true, .. } => self.expire().await,
            held => self.hand(held.line).await,
        }
    }

    async fn expire(&mut self) -> Option<()> {
        self.hand(Bytes::from_static(EXPIRED)).await?;
        None
    }

    /// As the API server sends it: a version, and nothing that happened.
    async fn bookmark(&mut self, event: &Event) -> Option<()> {
        let Some(version) = &self.version else { return Some(()) };
        let bookmark = serde_json::json!({"type": "BOOKMARK", "object": {
            "kind": event.object["kind"], "apiVersion": event.object["apiVersion"],
            "metadata": {"resourceVersion": version},
        }});
        self.hand(Bytes::from(format!("{bookmark}\n"))).await
    }

    async fn hand(&mut self, line: Bytes) -> Option<()> {
        self.sender.send(Ok(Frame::data(line))).await.ok()
    }
}
