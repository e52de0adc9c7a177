//! A network between clients and a server: messages arrive later, and in order.
//!
//! The proxy of the test harness decides about one chunk at a time and reads no further meanwhile. Two
//! consecutive messages therefore arrive a delay apart. Over a real distance they travel together. One
//! thread reads and stamps them; another writes each when its time has come.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A loopback port at this distance from the server. It exists until the process ends.
#[derive(Debug)]
pub(crate) struct Distance(SocketAddr);

struct Chunk {
    sent: Instant,
    bytes: Vec<u8>,
}

impl Distance {
    /// `way` is the time from client to server, and equally the way back.
    pub(crate) fn start(port: u16, way: Duration) -> Distance {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.expect("a loopback port is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
                join(&client, &server.expect("the server is there"), way);
            }
        });
        Distance(address)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.0)
    }
}

fn join(client: &TcpStream, server: &TcpStream, way: Duration) {
    for (from, to) in [(client, server), (server, client)] {
        to.set_nodelay(true).expect("a socket takes this option");
        let [from, to] =
            [from, to].map(|socket| socket.try_clone().expect("a socket can be cloned"));
        let (sender, receiver) = channel();
        thread::spawn(move || read(from, &sender));
        thread::spawn(move || write(to, &receiver, way));
    }
}

fn read(mut from: TcpStream, sender: &Sender<Chunk>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let chunk = Chunk {
            sent: Instant::now(),
            bytes: buffer[..length].to_vec(),
        };
        if sender.send(chunk).is_err() {
            return;
        }
    }
}

fn write(mut to: TcpStream, chunks: &Receiver<Chunk>, way: Duration) {
    for chunk in chunks {
        loop {
            let rest = way.saturating_sub(chunk.sent.elapsed());
            if rest.is_zero() {
                break;
            }
            // The wait may return early.
            thread::park_timeout(rest);
        }
        if to.write_all(&chunk.bytes).is_err() {
            break;
        }
    }
    // The end is passed on after the last byte; the socket may be closed already.
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Duration = Duration::from_secs(1);

    /// Echoes every message.
    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut byte = [0];
            while let Ok(1) = socket.read(&mut byte) {
                socket.write_all(&byte).unwrap();
            }
        });
        port
    }

    #[test]
    fn messages_sent_together_arrive_together() {
        let distance = Distance::start(echo(), WAY);
        let mut socket = TcpStream::connect(distance.0).unwrap();
        socket.set_nodelay(true).unwrap();
        let start = Instant::now();
        socket.write_all(b"a").unwrap();
        // The first message is on its way by now.
        while start.elapsed() < WAY / 20 {
            thread::yield_now();
        }
        socket.write_all(b"b").unwrap();
        let mut answer = [0; 2];
        socket.read_exact(&mut answer).unwrap();
        let time = start.elapsed();
        assert_eq!(&answer, b"ab");
        assert!(time >= 2 * WAY, "{time:?}");
        // One after the other, they would take three delays.
        assert!(time < 3 * WAY - WAY / 10, "{time:?}");
    }
}
