//! A TCP or unix domain socket, and one that a runtime waits for.
//!
//! # Invariants
//!
//! - A TCP connection is closed by a reset, so that none of its bytes arrives later. On some systems this is not
//!   possible.

use std::io::{self, Read, Write};
use std::net::Shutdown;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// A non-blocking socket, registered with no runtime.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(std::net::TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Socket {
    /// Duplicates the descriptor: each runtime needs its own to wait for the socket.
    pub(super) fn try_clone(&self) -> io::Result<Socket> {
        match self {
            Socket::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.try_clone().map(Socket::Unix),
        }
    }

    /// Ends the connection at once, for all descriptors of the socket.
    ///
    /// On Linux and Android, bytes that were written to a TCP connection and not sent are discarded. On other systems
    /// they may be sent until the last descriptor is closed.
    pub(super) fn reset(&self) {
        // An error means that the connection has already ended.
        let _ = match self {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Socket::Tcp(stream) if rustix::net::connect_unspec(stream).is_ok() => Ok(()),
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Both),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for &Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).read(buffer),
            #[cfg(unix)]
            Socket::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&mut &*stream).write(bytes),
            #[cfg(unix)]
            Socket::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}

/// A socket that is registered with its runtime.
pub(in crate::backend::redis) enum RegisteredSocket {
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
        self.poll(Interest::WRITABLE, cx, || {
            if write() {
                Ok(())
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            }
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
                if interest.is_readable() {
                    ready!($stream.poll_read_ready(cx))?
                } else {
                    ready!($stream.poll_write_ready(cx))?
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

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// The peer gets none of the unsent bytes, even though the socket has another descriptor.
    #[test]
    fn reset_ends_a_connection_for_all_its_descriptors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        let socket = Socket::Tcp(stream);
        let clone = socket.try_clone().unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        // Writes more than fits into the buffers of both sides.
        while (&socket).write(&[0; 65_536]).is_ok() {}
        socket.reset();
        let read = io::copy(&mut peer, &mut io::sink());
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        assert!((&clone).write(b"more").is_err());
    }
}
