//! A TCP proxy in front of a server, with faults on demand.
//!
//! Each connection is a *link*: two sockets and two threads, one per direction. A thread reads a
//! chunk, asks the gate (the state behind one mutex) what to do with it, and writes it on. All
//! faults are decided in the gate, so that a test changes them at once for every link.

mod gate;
mod link;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gate::Gate;

/// What happens to the bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They pass at once.
    Pass,
    /// They pass after this time.
    Delay(Duration),
    /// They are held back, as by a network that lost its route: they arrive late, once the mode
    /// changes, even if the sender is gone by then; or never, if the connection is killed before.
    Hold,
}

/// A proxy on a loopback port of its own. All its connections end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    gate: Arc<Gate>,
    address: SocketAddr,
}

impl Proxy {
    /// A proxy to the server on loopback port `port`.
    pub fn start(port: u16) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let gate = Arc::new(Gate::new((Ipv4Addr::LOCALHOST, port).into()));
        let accepting = Arc::clone(&gate);
        thread::spawn(move || link::accept(&listener, &accepting));
        Self { gate, address }
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// What happens to the bytes that go to the server.
    pub fn requests(&self, mode: Mode) {
        self.gate.change(|state| state.requests = mode);
    }

    /// What happens to the bytes that come from the server.
    pub fn replies(&self, mode: Mode) {
        self.gate.change(|state| state.replies = mode);
    }

    /// Holds both directions: the sockets stay open and nothing arrives.
    pub fn black_hole(&self) {
        self.gate
            .change(|state| (state.requests, state.replies) = (Mode::Hold, Mode::Hold));
    }

    /// Ends every mode and the refusing of connections; what was held back arrives now.
    pub fn heal(&self) {
        self.gate.change(|state| {
            (state.requests, state.replies) = (Mode::Pass, Mode::Pass);
            state.refusing = false;
        });
    }

    /// Cuts the connection at the next request that contains `pattern`: the server never sees it.
    /// An empty pattern means the very next one.
    pub fn cut_next_request(&self, pattern: &str) {
        self.gate
            .change(|state| state.cut_request = Some(pattern.into()));
    }

    /// Lets the next request that contains `pattern` pass to the server, and cuts the connection at
    /// its reply: the request is applied, and the client never learns it.
    pub fn cut_next_reply(&self, pattern: &str) {
        self.gate
            .change(|state| state.cut_reply = Some(pattern.into()));
    }

    /// Has the server say `to` for `from`, whenever that comes in one piece.
    pub fn replace_in_replies(&self, from: &str, to: &str) {
        self.gate
            .change(|state| state.replace = Some((from.into(), to.into())));
    }

    /// How many connections were cut so far by the two above.
    pub fn cuts(&self) -> usize {
        self.gate.lock().cuts
    }

    /// Whether new connections are closed as soon as they are made.
    pub fn refuse(&self, refusing: bool) {
        self.gate.change(|state| state.refusing = refusing);
    }

    /// Closes every connection, and loses what was held back.
    pub fn kill_connections(&self) {
        self.gate.change(gate::State::kill_links);
    }

    /// Ends the server's side of every connection without telling the client: the socket stays open,
    /// and what is sent on it is gone. New connections are as good as any.
    pub fn half_open(&self) {
        self.gate.change(gate::State::halve_links);
    }

    /// Sends new connections to another server: a failover.
    pub fn redirect(&self, port: u16) {
        self.gate
            .change(|state| state.target = (Ipv4Addr::LOCALHOST, port).into());
    }

    /// How many connections were closed as soon as they were made.
    pub fn refused(&self) -> u64 {
        self.gate.lock().refused
    }

    /// How many connections were made through the proxy so far.
    pub fn accepted(&self) -> u64 {
        self.gate.lock().accepted
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.gate.change(|state| {
            state.closed = true;
            state.kill_links();
        });
        // Wakes the accepting thread, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}
