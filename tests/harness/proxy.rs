//! A TCP proxy in front of a server, with faults on demand.
//!
//! Each connection is a *link*: two sockets and two threads, one per direction. A thread reads a chunk, asks the gate
//! (the state behind one mutex) what to do with it, and forwards it. The gate decides about all faults, so that a test
//! can change them for every link at once.

mod gate;
mod link;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gate::Gate;

/// The treatment of the bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The bytes pass immediately.
    Pass,
    /// The bytes pass after this time.
    Delay(Duration),
    /// The bytes are held back, as if the network had lost its route. They arrive once the mode
    /// changes, even if the sender is gone by then, but never if the connection is killed before.
    Hold,
}

/// A proxy on its own loopback port. All its connections end when its last handle is dropped.
#[derive(Clone, Debug)]
pub struct Proxy(Arc<Open>);

#[derive(Debug)]
struct Open {
    gate: Arc<Gate>,
    address: SocketAddr,
}

impl Proxy {
    /// A proxy to the server on loopback port `port`.
    pub fn start(port: u16) -> Self {
        let listener = crate::port::listener();
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let gate = Arc::new(Gate::new((Ipv4Addr::LOCALHOST, port).into()));
        let accepting = Arc::clone(&gate);
        thread::spawn(move || link::accept(&listener, &accepting));
        Self(Arc::new(Open { gate, address }))
    }

    pub fn url(&self) -> String {
        format!("redis://{}", self.0.address)
    }

    fn change(&self, change: impl FnOnce(&mut gate::State)) {
        self.0.gate.change(change);
    }

    /// Sets the treatment of the bytes to the server.
    pub fn requests(&self, mode: Mode) {
        self.change(|state| state.requests = mode);
    }

    /// Sets the treatment of the bytes from the server.
    pub fn replies(&self, mode: Mode) {
        self.change(|state| state.replies = mode);
    }

    /// Holds both directions: the sockets stay open and nothing arrives.
    pub fn black_hole(&self) {
        self.change(|state| (state.requests, state.replies) = (Mode::Hold, Mode::Hold));
    }

    /// Holds both directions of the links that a cluster node has opened to the bus behind this
    /// proxy.
    pub fn hold_node(&self, id: &str) {
        self.change(|state| state.held_node = Some(id.into()));
    }

    pub fn port(&self) -> u16 {
        self.0.address.port()
    }

    /// Ends every mode and accepts connections again; bytes that were held back arrive now.
    pub fn heal(&self) {
        self.change(|state| {
            (state.requests, state.replies) = (Mode::Pass, Mode::Pass);
            state.held_node = None;
            state.refusing = false;
        });
    }

    /// Cuts the connection at the next request that contains `pattern`: the server never sees it.
    /// An empty pattern means the very next one.
    pub fn cut_next_request(&self, pattern: &str) {
        self.change(|state| state.cut_request = Some(pattern.into()));
    }

    /// Lets the next request that contains `pattern` pass to the server, and cuts the connection at
    /// its reply: the request is applied, but the client does not learn that.
    pub fn cut_next_reply(&self, pattern: &str) {
        self.change(|state| state.cut_reply = Some(pattern.into()));
    }

    /// Replaces `from` by `to` in replies, whenever `from` arrives in one piece.
    pub fn replace_in_replies(&self, from: &str, to: &str) {
        self.change(|state| state.replace = Some((from.into(), to.into())));
    }

    /// The number of connections that the two methods above have cut.
    pub fn cuts(&self) -> usize {
        self.0.gate.lock().cuts
    }

    /// Whether a request that contains `pattern` was held back.
    pub fn has_held(&self, pattern: &str) -> bool {
        let state = self.0.gate.lock();
        let mut held = state.held.iter();
        held.any(|request| gate::has(request, pattern.as_bytes()))
    }

    /// Sets whether new connections are closed immediately.
    pub fn refuse(&self, refusing: bool) {
        self.change(|state| state.refusing = refusing);
    }

    /// Closes every connection, and drops the bytes that were held back.
    pub fn kill_connections(&self) {
        self.change(gate::State::kill_links);
    }

    /// Makes the server forget the logins of all connections so far, as the patch of a managed service does: it answers
    /// each of their commands with this error and carries none out. New connections work.
    pub fn forget_logins(&self, error: &str) {
        self.change(|state| state.forget_logins(error));
    }

    /// Ends the server's side of every connection without telling the client: the socket stays open,
    /// and bytes sent on it are lost. New connections work.
    pub fn half_open(&self) {
        self.change(gate::State::halve_links);
    }

    /// Sends new connections to another server: a failover.
    pub fn redirect(&self, port: u16) {
        self.change(|state| state.target = (Ipv4Addr::LOCALHOST, port).into());
    }

    /// The number of connections that were refused.
    pub fn refused(&self) -> u64 {
        self.0.gate.lock().refused
    }

    /// The number of connections made through the proxy so far.
    pub fn accepted(&self) -> u64 {
        self.0.gate.lock().accepted
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.gate.change(|state| {
            state.closed = true;
            state.kill_links();
        });
        // Wakes the accepting thread, which then sees that the proxy is closed.
        let _ = TcpStream::connect(self.address);
    }
}
