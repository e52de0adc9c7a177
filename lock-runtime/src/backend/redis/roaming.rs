//! A socket that can go from one runtime to another.
//!
//! tokio registers a socket with the reactor of one runtime, and only that one's polls are woken for
//! it. This one is registered anew when it is first polled after its driver has moved.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// Where the driver of a connection is, and what its socket has taken; shared by the two.
#[derive(Clone, Debug, Default)]
pub(super) struct Place(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Counts the driver's moves.
    moves: AtomicU64,
    /// Bytes that the system has taken.
    written: AtomicU64,
}

impl Place {
    // The driver is polled on one thread at a time and goes from one to the other under a mutex; a
    // command goes to it through a channel and its outcome comes back through another. They order
    // all of this.

    /// Says where the driver is about to be polled.
    pub(super) fn set(&self, moves: u64) {
        self.0.moves.store(moves, Ordering::Relaxed);
    }

    /// How much was written so far.
    pub(super) fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    fn get(&self) -> u64 {
        self.0.moves.load(Ordering::Relaxed)
    }

    pub(super) fn wrote(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.0.written.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
    }
}

/// A socket of tokio's, in the runtime that it was last polled in.
pub(super) struct Roaming<S> {
    /// `None` after it could not be registered: then it is closed.
    socket: Option<S>,
    place: Place,
    /// The move after which it was registered.
    registered: u64,
}

/// What can be registered anew.
pub(super) trait Movable: AsyncRead + AsyncWrite + Unpin + Sized {
    /// Leaves the reactor that it is registered with, for that of the current runtime.
    fn register_here(self) -> io::Result<Self>;
}

impl Movable for TcpStream {
    fn register_here(self) -> io::Result<TcpStream> {
        TcpStream::from_std(self.into_std()?)
    }
}

#[cfg(unix)]
impl Movable for UnixStream {
    fn register_here(self) -> io::Result<UnixStream> {
        UnixStream::from_std(self.into_std()?)
    }
}

impl<S: Movable> Roaming<S> {
    /// `socket` must be registered where the driver is at present.
    pub(super) fn new(socket: S, place: &Place) -> Roaming<S> {
        Roaming {
            socket: Some(socket),
            registered: place.get(),
            place: place.clone(),
        }
    }

    fn here(&mut self) -> io::Result<Pin<&mut S>> {
        let place = self.place.get();
        if self.registered != place
            && let Some(socket) = self.socket.take()
        {
            self.registered = place;
            self.socket = Some(socket.register_here()?);
        }
        let socket = self.socket.as_mut().map(Pin::new);
        socket.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S: Movable> AsyncRead for Roaming<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.here()?.poll_read(cx, buf)
    }
}

impl<S: Movable> AsyncWrite for Roaming<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.here()?.poll_write(cx, buf);
        self.place.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.here()?.poll_write_vectored(cx, bufs);
        self.place.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.as_ref().is_some_and(S::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.here()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.here()?.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    fn runtime() -> Runtime {
        let mut builder = Builder::new_current_thread();
        builder.enable_all().build().expect("a runtime can be made")
    }

    /// Has the other side echo a word in `runtime`, after so many moves.
    fn echo<S: Movable>(runtime: &Runtime, moves: u64, socket: &mut Roaming<S>) {
        let word = moves.to_be_bytes();
        socket.place.set(moves);
        let mut answer = [0; 8];
        let echoing = async {
            socket.write_all(&word).await?;
            socket.read_exact(&mut answer).await
        };
        let echoing = async { tokio::time::timeout(Duration::from_secs(20), echoing).await };
        runtime.block_on(echoing).expect("it is woken").unwrap();
        assert_eq!(answer, word);
        assert_eq!(socket.place.written(), 8 * (moves + 1));
    }

    fn to_and_fro<S: Movable>(home: Runtime, mut socket: Roaming<S>) {
        let away = runtime();
        for moves in [0, 1, 2, 3] {
            let runtime = if moves % 2 == 0 { &home } else { &away };
            echo(runtime, moves, &mut socket);
        }
        // It outlives the runtime that it was polled in last.
        drop(away);
        echo(&home, 4, &mut socket);
        for moves in 5..10 {
            echo(&runtime(), moves, &mut socket);
        }
        echo(&home, 10, &mut socket);
    }

    #[test]
    fn a_tcp_socket_goes_from_runtime_to_runtime() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            std::io::copy(&mut stream.try_clone().unwrap(), &mut stream)
        });
        let home = runtime();
        let socket = home.block_on(TcpStream::connect(address)).unwrap();
        to_and_fro(home, Roaming::new(socket, &Place::default()));
    }

    #[cfg(unix)]
    #[test]
    fn a_unix_socket_goes_from_runtime_to_runtime() {
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        std::thread::spawn(move || std::io::copy(&mut theirs.try_clone().unwrap(), &mut theirs));
        ours.set_nonblocking(true).unwrap();
        let home = runtime();
        let socket = home.block_on(async { UnixStream::from_std(ours) });
        to_and_fro(home, Roaming::new(socket.unwrap(), &Place::default()));
    }
}
