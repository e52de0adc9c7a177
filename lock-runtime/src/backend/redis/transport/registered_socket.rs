//! A socket that is registered with a runtime, so that tasks of that runtime can wait for it.

use std::io;
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use crate::backend::redis::socket::Socket;

/// A socket that is registered with its runtime.
pub(super) enum RegisteredSocket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl RegisteredSocket {
    /// Panics in a runtime without I/O, as tokio does.
    pub(super) fn new(socket: Socket) -> io::Result<RegisteredSocket> {
        match socket {
            Socket::Tcp(stream) => TcpStream::from_std(stream).map(RegisteredSocket::Tcp),
            #[cfg(unix)]
            Socket::Unix(stream) => UnixStream::from_std(stream).map(RegisteredSocket::Unix),
        }
    }

    /// Calls `read` when the socket is readable. `read` must read everything that has arrived.
    pub(super) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        read: impl FnOnce(),
    ) -> Poll<io::Result<()>> {
        // Bytes that arrive after the last read make the socket readable again.
        self.poll(Interest::READABLE, cx, || {
            read();
            Err(io::ErrorKind::WouldBlock.into())
        })
    }

    /// Calls `write` when the socket has room. `write` returns whether room is left.
    pub(super) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        write: impl FnOnce() -> bool,
    ) -> Poll<io::Result<()>> {
        self.poll(Interest::WRITABLE, cx, || match write() {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        })
    }

    fn poll(
        &self,
        interest: Interest,
        cx: &mut Context<'_>,
        act: impl FnOnce() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        macro_rules! poll {
            ($stream:expr) => {{
                match interest.is_readable() {
                    true => ready!($stream.poll_read_ready(cx))?,
                    false => ready!($stream.poll_write_ready(cx))?,
                }
                $stream.try_io(interest, act)
            }};
        }
        // With `WouldBlock`, `act` reports that the socket is no longer ready, which is not an error.
        let _ = match self {
            RegisteredSocket::Tcp(stream) => poll!(stream),
            #[cfg(unix)]
            RegisteredSocket::Unix(stream) => poll!(stream),
        };
        Poll::Ready(Ok(()))
    }
}
