//! A connection whose client has to read its answers at a minimum rate.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// How long a client may read nothing while there is something to read.
const STALL: Duration = Duration::from_secs(10);
/// Minimum rate in bytes per second, in the long run.
const RATE: u64 = 1024;

/// A stream that is closed if its client does not read.
pub(super) struct Paced {
    stream: TcpStream,
    /// Since when the client has not taken everything at once, and how many bytes it has taken since.
    slow: Option<(Instant, u64)>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    pub(super) fn new(stream: TcpStream) -> Paced {
        Paced { stream, slow: None, stalled: None }
    }

    /// Checks the result of a write against the clock; `wanted` bytes were to be written.
    fn check_pace(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
        wanted: usize,
    ) -> Poll<io::Result<usize>> {
        let late = || Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        match wrote {
            Poll::Ready(Ok(bytes)) if bytes >= wanted => {
                (self.slow, self.stalled) = (None, None);
                wrote
            }
            Poll::Ready(Ok(bytes)) => {
                self.stalled = None;
                let (since, taken) = self.slow.get_or_insert_with(|| (Instant::now(), 0));
                *taken += bytes as u64;
                let passed = since.elapsed();
                // Over a shorter time the rate says little: kernels and networks deliver in bursts.
                if passed > STALL && *taken < RATE * passed.as_secs() {
                    return late();
                }
                wrote
            }
            Poll::Pending => {
                self.slow.get_or_insert_with(|| (Instant::now(), 0));
                let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL)));
                // Polling the timer also registers the wake-up at its end.
                ready!(stalled.as_mut().poll(context));
                late()
            }
            failed => failed,
        }
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_pace(context, wrote, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wanted = pieces.iter().map(|piece| piece.len()).sum();
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.check_pace(context, wrote, wanted)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
