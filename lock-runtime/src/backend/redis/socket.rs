//! The way to a server: TCP, TLS over it, or a unix socket.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::addresses;
use super::once::Once;
use super::roaming::{Place, Roaming};
use super::target::Address;
use crate::backend::wire::Fault;
use crate::telemetry;

/// What bytes go through in both directions.
pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Remote servers that this process sends its passwords to for everybody to read.
static IN_THE_CLEAR: Once = Once::new();

/// Connects within `patience`, and notes when the server was `reached`. The socket is registered with the
/// runtime that polls this, which must be where `place` is, and follows it from there.
pub(super) async fn open(
    address: &Address,
    place: &Place,
    patience: Duration,
    reached: &AtomicBool,
) -> Result<Box<dyn Socket>, Fault> {
    let unreachable =
        |error: io::Error| Fault::unavailable(format!("cannot connect to {address}: {error}"));
    match address {
        Address::Tcp { host, port, tls } => {
            let connecting = addresses::connect(host, *port, patience);
            let stream = connecting.await.map_err(unreachable)?;
            reached.store(true, Ordering::Relaxed);
            tune(&stream).map_err(unreachable)?;
            let peer = stream.peer_addr().map_err(unreachable)?;
            let stream = Roaming::new(stream, place);
            if let Some(tls) = tls {
                return Ok(Box::new(tls.connect(stream).await?));
            }
            if is_remote(peer.ip()) && IN_THE_CLEAR.first(&address.to_string()) {
                telemetry::connection_in_the_clear(address);
            }
            Ok(Box::new(stream))
        }
        // Nothing to tune: the kernel neither gathers nor repeats nor loses what is written, and
        // both sides know at once when the other is gone. What was written before a teardown
        // is in the server's hands, and what was not written never will be.
        #[cfg(unix)]
        Address::Unix(path) => {
            let connecting = tokio::net::UnixStream::connect(path);
            let stream = connecting.await.map_err(unreachable)?;
            reached.store(true, Ordering::Relaxed);
            Ok(Box::new(Roaming::new(stream, place)))
        }
        #[cfg(not(unix))]
        Address::Unix(_) => Err(Fault::unavailable(
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
}
