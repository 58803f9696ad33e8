//! The body of an answer, which must not fall silent.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tower::BoxError;

use super::Unanswered;

/// A body that fails if `pause` passes without a piece of it, and that keeps its request's place among
/// those in flight until it is dropped: until then it keeps a connection.
pub(super) struct Guarded<B> {
    body: B,
    silence: Option<(Duration, Pin<Box<Sleep>>)>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<B> Guarded<B> {
    pub(super) fn new(
        body: B,
        pause: Option<Duration>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let silence = pause.map(|pause| (pause, Box::pin(tokio::time::sleep(pause))));
        Self { body, silence, _place: place }
    }
}

impl<B> Body for Guarded<B>
where
    B: Body + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(context);
        let Some((pause, sleep)) = &mut this.silence else {
            return polled.map_err(Into::into);
        };
        match polled {
            Poll::Ready(frame) => {
                sleep.as_mut().reset(Instant::now() + *pause);
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending => match sleep.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err(Unanswered::Body(*pause).into()))),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
