//! The sockets and threads of the proxied connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use super::gate::{Direction, Gate, Verdict};

/// Turns each connection into a link, until the gate is closed.
pub(super) fn accept(listener: &TcpListener, gate: &Arc<Gate>) {
    for client in listener.incoming().map_while(Result::ok) {
        let (closed, target) = {
            let state = gate.lock();
            (state.closed, state.target)
        };
        if closed {
            return;
        }
        // Without a server the client's socket is closed here, as if the server had just died.
        if let Ok(server) = TcpStream::connect(target) {
            join(client, server, gate);
        }
    }
}

/// Makes a link of two sockets and starts its threads.
fn join(client: TcpStream, server: TcpStream, gate: &Arc<Gate>) {
    for socket in [&client, &server] {
        socket
            .set_nodelay(true)
            .expect("a socket takes this option");
    }
    let copy = |socket: &TcpStream| socket.try_clone().expect("a socket can be cloned");
    let ways = [
        (Direction::ToServer, copy(&client), copy(&server)),
        (Direction::ToClient, copy(&server), copy(&client)),
    ];
    let Some(id) = gate.lock().add_link(client, server) else {
        return;
    };
    for (direction, from, to) in ways {
        let gate = Arc::clone(gate);
        thread::spawn(move || {
            pump(&gate, id, direction, from, to);
            gate.lock().end_direction(id);
        });
    }
}

/// Moves the bytes of one direction until either side ends.
fn pump(gate: &Gate, id: u64, direction: Direction, mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let chunk = &buffer[..length];
        match gate.admit(id, direction, chunk) {
            Verdict::Forward => {
                let replaced = match direction {
                    Direction::ToServer => None,
                    Direction::ToClient => gate.lock().replaced(chunk),
                };
                let bytes = replaced.as_ref().map_or(chunk, String::as_bytes);
                if to.write_all(bytes).is_err() {
                    break;
                }
            }
            Verdict::Lose => {}
            Verdict::Refuse => {
                let refusals = gate.lock().refusals(id, chunk);
                if from.write_all(refusals.as_bytes()).is_err() {
                    break;
                }
            }
            Verdict::Drop => return gate.lock().kill_link(id),
            Verdict::Drain => {
                // Closing the server's socket with unread bytes would reset it, and the server
                // might discard a request that it has not read. The other thread sees the client's
                // end and passes it on, so the server ends the connection itself.
                let _ = to.shutdown(Shutdown::Both);
                while let Ok(1..) = from.read(&mut buffer) {}
                return;
            }
        }
    }
    // The end is passed on after the last byte; the other direction may still be busy.
    if direction == Direction::ToServer || !gate.lock().is_halved(id) {
        let _ = to.shutdown(Shutdown::Write);
    }
}
