//! Opens a socket to a server: TCP, TLS over it, or a unix socket.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;

use super::address::Address;
use super::addresses;
use super::once_per_server::OncePerServer;
use super::socket::Socket;
use super::tls::Session;
use crate::backend::wire::error::WireError;
use crate::telemetry;

/// The remote servers that were warned about, since passwords travel to them unencrypted.
static UNENCRYPTED: OncePerServer = OncePerServer::new();

/// Connects within `timeout`, and sets `reached` once the server has accepted the connection.
pub(super) async fn open(
    address: &Address,
    timeout: Duration,
    reached: &AtomicBool,
) -> Result<(Socket, Option<Session>), WireError> {
    let unreachable =
        |error: io::Error| WireError::unavailable(format!("cannot connect to {address}: {error}"));
    match address {
        Address::Tcp { host, port, tls } => {
            let connecting = addresses::connect(host, *port, timeout);
            let mut stream = connecting.await.map_err(unreachable)?;
            reached.store(true, Ordering::Relaxed);
            set_options(&stream).map_err(unreachable)?;
            let peer = stream.peer_addr().map_err(unreachable)?;
            let mut session = None;
            if let Some(tls) = tls {
                let (encrypted, begun) = tls.connect(stream).await?;
                (stream, session) = (encrypted, Some(begun));
            } else if is_remote(peer.ip()) && UNENCRYPTED.insert(&address.to_string()) {
                telemetry::connection_in_the_clear(address);
            }
            let stream = stream.into_std().map_err(unreachable)?;
            Ok((Socket::Tcp(stream), session))
        }
        // A unix socket needs no options. The kernel does not delay, repeat or lose its bytes, and each side learns at
        // once when the other is gone. Bytes that were written before a teardown have arrived at the server.
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

/// Makes the socket send small packets at once, detect dead peers, and close with a reset.
///
/// After a reset, no unsent byte of a connection can arrive after the bytes of the next connection. A TLS session ends
/// with its connection, without a TLS alert.
fn set_options(stream: &TcpStream) -> io::Result<()> {
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

/// Returns whether bytes to `peer` leave this machine.
fn is_remote(peer: IpAddr) -> bool {
    !peer.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_not_remote() {
        for (address, expected) in [
            ("127.0.0.1", false),
            ("127.8.9.10", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("10.0.0.7", true),
            ("::ffff:10.0.0.7", true),
            ("fd00::2", true),
        ] {
            assert_eq!(is_remote(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[tokio::test]
    async fn tcp_options_are_set() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        set_options(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        let socket = socket2::SockRef::from(&stream);
        assert_eq!(socket.linger().unwrap(), Some(Duration::ZERO));
        assert!(socket.keepalive().unwrap());
    }
}
