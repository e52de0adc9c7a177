//! Connects to the first of a host's addresses that answers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The longest time before the next address is tried in parallel.
const LONGEST_SHARE: Duration = Duration::from_millis(250);

/// Connects to `host` within `timeout`.
pub(super) async fn connect(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host((host, port)).await?;
    connect_first(found.collect(), timeout).await
}

/// Connects to one of the addresses, tried in order.
///
/// The next address is tried when one fails, and in parallel when one has not answered within its share of the time. An
/// address may never answer, for example because its machine is gone or no route leads to it.
async fn connect_first(addresses: Vec<SocketAddr>, timeout: Duration) -> io::Result<TcpStream> {
    // One share more than there are addresses, so that the last address has time, too.
    let shares = u32::try_from(addresses.len() + 1).unwrap_or(u32::MAX);
    let share = LONGEST_SHARE.min(timeout / shares);
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut rest = addresses.into_iter();
    // Dropping the set ends the attempts that have not completed.
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

    const TIMEOUT: Duration = Duration::from_secs(20);

    fn listener(address: &str) -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// An address that does not answer, since its listener's backlog is full.
    struct Silent {
        address: SocketAddr,
        _listener: socket2::Socket,
        _backlog: Vec<socket2::Socket>,
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
        let mut backlog = Vec::new();
        loop {
            let client = socket();
            let connected = client.connect_timeout(&address, Duration::from_millis(200));
            backlog.push(client);
            if connected.is_err() {
                break;
            }
        }
        Silent {
            address: address.as_socket().unwrap(),
            _listener: listener,
            _backlog: backlog,
        }
    }

    async fn peer(addresses: &[SocketAddr], timeout: Duration) -> io::Result<SocketAddr> {
        let stream = connect_first(addresses.to_vec(), timeout).await?;
        stream.peer_addr()
    }

    #[tokio::test]
    async fn first_address_that_answers_is_used() {
        let (_first_listener, first) = listener("127.0.0.1");
        let (_second_listener, second) = listener("127.0.0.1");
        assert_eq!(peer(&[first, second], TIMEOUT).await.unwrap(), first);
        assert_eq!(peer(&[second, first], TIMEOUT).await.unwrap(), second);
    }

    #[tokio::test]
    async fn address_that_refuses_is_skipped() {
        let (closed, refusing) = listener("127.0.0.1");
        drop(closed);
        let (_listener, answering) = listener("127.0.0.1");
        assert_eq!(
            peer(&[refusing, answering], TIMEOUT).await.unwrap(),
            answering
        );
        let error = peer(&[refusing, refusing], TIMEOUT).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    /// Each attempt used to try one address, so a silent one was never skipped.
    #[tokio::test]
    async fn host_whose_first_addresses_are_silent_is_reached() {
        let silent = [silent(), silent()];
        let (_listener, answering) = listener("127.0.0.1");
        let addresses = [silent[0].address, silent[1].address, answering];
        let began = Instant::now();
        assert_eq!(peer(&addresses, TIMEOUT).await.unwrap(), answering);
        assert!(began.elapsed() < TIMEOUT / 2, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn slow_address_is_still_awaited_when_the_next_one_fails() {
        let silent = silent();
        let (closed, refusing) = listener("127.0.0.1");
        drop(closed);
        let addresses = [silent.address, refusing];
        let timeout = Duration::from_millis(600);
        let connecting = tokio::time::timeout(timeout, peer(&addresses, timeout));
        assert!(connecting.await.is_err(), "no address is awaited");
    }

    #[tokio::test]
    async fn name_without_an_address_is_an_error() {
        let error = peer(&[], TIMEOUT).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
