//! Which of the addresses of a host to use.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The longest time that an address has to itself.
const LONGEST: Duration = Duration::from_millis(250);

/// Connects to `host` within `patience`.
pub(super) async fn connect(host: &str, port: u16, patience: Duration) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host((host, port)).await?;
    first_of(found.collect(), patience).await
}

/// Connects to the first of the addresses that lets us, in their order: the next one is tried when one
/// fails, and beside those that are silent after a share of the time. An address may be silent for ever,
/// as that of a machine that is gone, or of a network that has no way there.
async fn first_of(addresses: Vec<SocketAddr>, patience: Duration) -> io::Result<TcpStream> {
    // The last one has a share as well.
    let shares = u32::try_from(addresses.len() + 1).unwrap_or(u32::MAX);
    let share = LONGEST.min(patience / shares);
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut rest = addresses.into_iter();
    // Dropped, it ends the attempts that are still under way.
    let mut attempts = JoinSet::new();
    loop {
        if let Some(address) = rest.next() {
            attempts.spawn(TcpStream::connect(address));
        }
        tokio::select! {
            biased;
            attempt = attempts.join_next() => match attempt {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => failure = error,
                Some(Err(error)) => failure = error.into(),
                None => return Err(failure),
            },
            () = sleep(share), if rest.len() > 0 => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn listener(address: &str) -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// An address that answers nobody: all places of its queue are taken.
    struct Silent {
        address: SocketAddr,
        _listener: socket2::Socket,
        _callers: Vec<socket2::Socket>,
    }

    fn silent() -> Silent {
        let socket = || {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
            socket.unwrap()
        };
        let listener = socket();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        listener.bind(&any.into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut callers = Vec::new();
        loop {
            let caller = socket();
            let connected = caller.connect_timeout(&address, Duration::from_millis(200));
            callers.push(caller);
            if connected.is_err() {
                break;
            }
        }
        Silent {
            address: address.as_socket().unwrap(),
            _listener: listener,
            _callers: callers,
        }
    }

    async fn peer(addresses: &[SocketAddr], patience: Duration) -> io::Result<SocketAddr> {
        let stream = first_of(addresses.to_vec(), patience).await?;
        stream.peer_addr()
    }

    #[tokio::test]
    async fn the_first_address_that_answers_is_used() {
        let (_one, first) = listener("127.0.0.1");
        let (_other, second) = listener("127.0.0.1");
        assert_eq!(peer(&[first, second], PATIENCE).await.unwrap(), first);
        assert_eq!(peer(&[second, first], PATIENCE).await.unwrap(), second);
    }

    #[tokio::test]
    async fn an_address_that_refuses_is_passed_over() {
        let (gone, refusing) = listener("127.0.0.1");
        drop(gone);
        let (_listener, there) = listener("127.0.0.1");
        assert_eq!(peer(&[refusing, there], PATIENCE).await.unwrap(), there);
        let error = peer(&[refusing, refusing], PATIENCE).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    /// It was never got past: each attempt to connect had one address, as long as it lasted.
    #[tokio::test]
    async fn a_host_is_reached_whose_first_addresses_are_silent() {
        let (one, other) = (silent(), silent());
        let (_listener, there) = listener("127.0.0.1");
        let addresses = [one.address, other.address, there];
        let began = Instant::now();
        assert_eq!(peer(&addresses, PATIENCE).await.unwrap(), there);
        assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn an_address_that_is_slow_is_not_given_up() {
        let silent = silent();
        let (gone, refusing) = listener("127.0.0.1");
        drop(gone);
        let addresses = [silent.address, refusing];
        // The second one fails, and the first one goes on.
        let patience = Duration::from_millis(600);
        let connecting = tokio::time::timeout(patience, peer(&addresses, patience));
        assert!(connecting.await.is_err(), "it was given up");
    }

    #[tokio::test]
    async fn a_name_without_an_address_is_an_error() {
        let error = peer(&[], PATIENCE).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
