//! How long this process waits for the other end of a connection: whoever sends nothing, or reads
//! nothing, keeps no place that others could have.
//!
//! How long the head of a request may take, hyper watches. Here is the rest: the content of a request,
//! and answers that nobody reads.

use std::future::Future as _;
use std::io::{ErrorKind, IoSlice, Result as IoResult};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long the content of a request may take to come, all of it.
const CONTENT_WAIT: Duration = Duration::from_secs(60);
/// How long nothing of an answer may be read.
const UNREAD_WAIT: Duration = Duration::from_secs(60);

/// Why the content of a request ended early.
type ContentError = Box<dyn std::error::Error + Send + Sync>;

/// The content of a request, which comes in time or not at all.
#[derive(Debug)]
pub struct TimedContent {
    content: Incoming,
    /// Runs from the moment at which something was waited for.
    late: Option<Pin<Box<Sleep>>>,
}

impl TimedContent {
    /// Waits for a content.
    pub fn new(content: Incoming) -> TimedContent {
        TimedContent { content, late: None }
    }
}

impl Body for TimedContent {
    type Data = Bytes;
    type Error = ContentError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ContentError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.content).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(ContentError::from)));
        }
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(CONTENT_WAIT)));
        ready!(late.as_mut().poll(context));
        Poll::Ready(Some(Err("the content took too long".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
    }
}

/// A connection that breaks when nobody reads what is written to it.
#[derive(Debug)]
pub struct ReadConnection<S> {
    stream: S,
    /// Runs while something waits to be written.
    unread: Option<Pin<Box<Sleep>>>,
    unread_wait: Duration,
}

impl<S> ReadConnection<S> {
    /// Watches a connection.
    pub fn new(stream: S) -> ReadConnection<S> {
        ReadConnection { stream, unread: None, unread_wait: UNREAD_WAIT }
    }

    /// Passes on what became of a write, unless it has waited too long.
    fn watch<T>(
        &mut self,
        written: Poll<IoResult<T>>,
        context: &mut Context<'_>,
    ) -> Poll<IoResult<T>> {
        if written.is_ready() {
            self.unread = None;
            return written;
        }
        let unread_wait = self.unread_wait;
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(unread_wait)));
        ready!(unread.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadConnection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        read: &mut ReadBuf<'_>,
    ) -> Poll<IoResult<()>> {
        Pin::new(&mut self.stream).poll_read(context, read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReadConnection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<IoResult<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<IoResult<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(ended, context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::ErrorKind;
    use std::pin::Pin;
    use std::time::Duration;

    use tokio::io::AsyncWrite as _;
    use tokio::net::UnixStream;

    use super::ReadConnection;

    /// How often a part is read, and how long nothing may be.
    const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(600));

    /// Writes until it fails; tells how much was taken.
    async fn write(stream: &mut ReadConnection<UnixStream>) -> (usize, ErrorKind) {
        let mut n_written = 0;
        loop {
            let bytes = [7; 64 << 10];
            let write = poll_fn(|context| Pin::new(&mut *stream).poll_write(context, &bytes));
            match write.await {
                Ok(n_bytes) => n_written += n_bytes,
                Err(error) => return (n_written, error.kind()),
            }
        }
    }

    #[test]
    fn what_nobody_reads_ends_and_what_is_read_slowly_goes_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let (ours, theirs) = UnixStream::pair().expect("two sockets");
            let mut ours = ReadConnection { unread_wait: PAUSES.1, ..ReadConnection::new(ours) };
            let reading = async {
                let (mut n_read, mut part) = (0, vec![0; 256 << 10]);
                for _ in 0..20 {
                    tokio::time::sleep(PAUSES.0).await;
                    n_read += theirs.try_read(&mut part).expect("it was written");
                }
                n_read
            };
            let ((n_written, ended), n_read) = tokio::join!(write(&mut ours), reading);
            assert_eq!(ended, ErrorKind::TimedOut);
            assert!(n_read > 1 << 20 && n_written >= n_read, "{n_read} of {n_written}");
            drop(theirs);
        });
    }
}
