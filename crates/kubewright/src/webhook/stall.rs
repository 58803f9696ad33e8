//! A stream whose writes fail once the other side has not taken for too long what it was sent: a client that reads
//! its answer slowly or not at all must not keep it in memory for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// From the first byte of an answer to its last: as long as a whole call may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Wraps a stream.
pub(super) struct Stall<S> {
    stream: S,
    /// Since something was written that is not all taken yet.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> Stall<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, waiting: None }
    }

    /// Passes on what the stream says of a write. That some bytes were taken is no reason to wait longer: one
    /// each second would be enough to wait for ever.
    fn within<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        if waiting.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        poll(Pin::new(&mut self.stream), context)
    }

    /// The same for what is over once everything was taken.
    fn until_taken(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<()>> {
        let taken = self.within(context, poll);
        if matches!(taken, Poll::Ready(Ok(()))) {
            self.waiting = None;
        }
        taken
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.within(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.within(context, |stream, context| stream.poll_write_vectored(context, bytes))
    }

    /// Without it hyper would copy each answer once more.
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.until_taken(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.until_taken(context, AsyncWrite::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_reads_a_byte_each_second_is_given_up() {
        let (near, mut far) = duplex(16);
        tokio::spawn(async move {
            while far.read_u8().await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let (mut stream, begun) = (Stall::new(near), Instant::now());
        let error = stream.write_all(&[0; 1000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < PATIENCE * 2, "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn each_answer_has_its_own_time() {
        let (near, mut far) = duplex(4);
        tokio::spawn(async move {
            while far.read_u32().await.is_ok() {
                sleep(PATIENCE * 3 / 4).await;
            }
        });
        let mut stream = Stall::new(near);
        for _ in 0..4 {
            stream.write_all(&[0; 4]).await.unwrap();
            stream.flush().await.unwrap();
            sleep(PATIENCE).await;
        }
    }
}
