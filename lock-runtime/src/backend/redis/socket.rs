//! The way to a server: TCP, TLS over it, or a unix socket.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags};
use tokio::net::TcpStream;

use super::addresses;
use super::once_per_server::OncePerServer;
use super::tls::Session;
use super::url::Address;
use crate::backend::wire::error::WireError;
use crate::telemetry;

/// A socket that does not block, and is registered with no runtime.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(std::net::TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Socket {
    /// Another descriptor of the same socket: a runtime needs one of its own to wait for it.
    pub(super) fn try_clone(&self) -> io::Result<Socket> {
        match self {
            Socket::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            #[cfg(unix)]
            Socket::Unix(stream) => stream.try_clone().map(Socket::Unix),
        }
    }

    /// Ends the connection at once, whoever has another descriptor of it. Over TCP nothing that was
    /// written and not yet sent is sent any more, on systems that can do so; elsewhere it may be, until
    /// the last descriptor is closed.
    pub(super) fn reset(&self) {
        // An error says that it is over already.
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

/// What wakes a thread that waits for a socket to become readable.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct WakePipe {
    socket: Socket,
    rings: UnixStream,
    rung: UnixStream,
}

#[cfg(unix)]
impl WakePipe {
    /// For a socket. `None` if no file descriptor is left.
    pub(super) fn new(socket: &Socket) -> Option<WakePipe> {
        let (rings, rung) = UnixStream::pair().ok()?;
        rings.set_nonblocking(true).ok()?;
        rung.set_nonblocking(true).ok()?;
        let socket = socket.try_clone().ok()?;
        Some(WakePipe {
            socket,
            rings,
            rung,
        })
    }

    pub(super) fn ring(&self) {
        // If there is no room, it has been rung.
        let _ = (&self.rings).write(&[0]);
    }

    /// Waits until the socket is readable, or this is rung. Whether the socket is.
    ///
    /// # Errors
    ///
    /// The system does not let a thread wait for a socket, or has no memory for it.
    pub(super) fn wait_or_readable(&self) -> io::Result<bool> {
        let mut awaited = [
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.rung, PollFlags::IN),
        ];
        match rustix::event::poll(&mut awaited, None) {
            Err(rustix::io::Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        let [socket, rung] = awaited.map(|it| !it.revents().is_empty());
        if rung {
            let _ = (&self.rung).read(&mut [0; 64]);
        }
        Ok(socket)
    }
}

/// Elsewhere threads do not read.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct WakePipe;

#[cfg(not(unix))]
impl WakePipe {
    pub(super) fn new(_socket: &Socket) -> Option<WakePipe> {
        None
    }

    pub(super) fn ring(&self) {}

    pub(super) fn wait_or_readable(&self) -> io::Result<bool> {
        Ok(false)
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

#[cfg(unix)]
impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Socket::Tcp(stream) => stream.as_raw_fd(),
            Socket::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

/// Remote servers that this process sends its passwords to for everybody to read.
static IN_THE_CLEAR: OncePerServer = OncePerServer::new();

/// Connects within `patience`, and notes when the server was `reached`.
pub(super) async fn open(
    address: &Address,
    patience: Duration,
    reached: &AtomicBool,
) -> Result<(Socket, Option<Session>), WireError> {
    let unreachable =
        |error: io::Error| WireError::unavailable(format!("cannot connect to {address}: {error}"));
    match address {
        Address::Tcp { host, port, tls } => {
            let connecting = addresses::connect(host, *port, patience);
            let mut stream = connecting.await.map_err(unreachable)?;
            reached.store(true, Ordering::Relaxed);
            tune(&stream).map_err(unreachable)?;
            let peer = stream.peer_addr().map_err(unreachable)?;
            let mut session = None;
            if let Some(tls) = tls {
                let (encrypted, begun) = tls.connect(stream).await?;
                (stream, session) = (encrypted, Some(begun));
            } else if is_remote(peer.ip()) && IN_THE_CLEAR.first(&address.to_string()) {
                telemetry::connection_in_the_clear(address);
            }
            let stream = stream.into_std().map_err(unreachable)?;
            Ok((Socket::Tcp(stream), session))
        }
        // Nothing to tune: the kernel neither gathers nor repeats nor loses what is written, and
        // both sides know at once when the other is gone. What was written before a teardown
        // is in the server's hands, and what was not written never will be.
        #[cfg(unix)]
        Address::Unix(path) => {
            let connecting = tokio::net::UnixStream::connect(path);
            let stream = connecting.await.and_then(|stream| stream.into_std());
            let stream = stream.map_err(unreachable)?;
            reached.store(true, Ordering::Relaxed);
            Ok((Socket::Unix(stream), None))
        }
        #[cfg(not(unix))]
        Address::Unix(_) => Err(WireError::unavailable(
            "there are no unix sockets on this system",
        )),
    }
}

/// Small packets at once; a dead peer noticed; and a connection that is torn down is torn down by
/// a reset, so that nothing it still had to send arrives after what its successor sends. A TLS
/// session ends with its connection: it does not say goodbye first.
fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_zero_linger()?;
    let socket = socket2::SockRef::from(stream);
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(3));
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(Duration::from_secs(5)))?;
    Ok(())
}

/// Whether what is sent there leaves this machine.
fn is_remote(peer: IpAddr) -> bool {
    !peer.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_on_this_machine_is_not_remote() {
        for (address, remote) in [
            ("127.0.0.1", false),
            ("127.8.9.10", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("10.0.0.7", true),
            ("::ffff:10.0.0.7", true),
            ("fd00::2", true),
        ] {
            assert_eq!(is_remote(address.parse().unwrap()), remote, "{address}");
        }
    }

    #[tokio::test]
    async fn a_connection_is_tuned() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        tune(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        let socket = socket2::SockRef::from(&stream);
        assert_eq!(socket.linger().unwrap(), Some(Duration::ZERO));
        assert!(socket.keepalive().unwrap());
    }

    /// What is left to send is thrown away, though somebody else has the socket as well.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_reset_ends_a_connection_for_all_who_have_it() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await;
        let (mut peer, _) = listener.accept().unwrap();
        let socket = Socket::Tcp(stream.unwrap().into_std().unwrap());
        let other = socket.try_clone().unwrap();
        // More than the two sides take.
        while (&socket).write(&[0; 65_536]).is_ok() {}
        socket.reset();
        let read = io::copy(&mut peer, &mut io::sink());
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        assert!((&other).write(b"more").is_err());
    }
}
