//! A TCP proxy in front of a server, with faults on demand.
//!
//! Each connection is a *link*: two sockets and two threads, one per direction. A thread reads a
//! chunk, asks the gate (the state behind one mutex) what to do with it, and writes it on. All
//! faults are decided in the gate, so that a test changes them at once for every link.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

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

#[derive(Debug)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    target: SocketAddr,
    requests: Mode,
    replies: Mode,
    cut_request: Option<Vec<u8>>,
    cut_reply: Option<Vec<u8>>,
    cuts: usize,
    refusing: bool,
    closed: bool,
    accepted: u64,
    links: HashMap<u64, Link>,
}

#[derive(Debug)]
struct Link {
    client: TcpStream,
    server: TcpStream,
    // A request of this link was chosen to lose its reply.
    reply_is_cut: bool,
    // Directions that have ended; with both, the sockets can go.
    ended: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

/// The gate's word on one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Forward,
    // The chunk is lost, and the link with it.
    Drop,
    // The chunk is lost, and the client sees a closed connection; the server must still get to see
    // everything that was sent to it.
    Drain,
}

impl Proxy {
    /// A proxy to the server on loopback port `port`.
    pub fn start(port: u16) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let gate = Arc::new(Gate {
            state: Mutex::new(State {
                target: (Ipv4Addr::LOCALHOST, port).into(),
                requests: Mode::Pass,
                replies: Mode::Pass,
                cut_request: None,
                cut_reply: None,
                cuts: 0,
                refusing: false,
                closed: false,
                accepted: 0,
                links: HashMap::new(),
            }),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&gate);
        thread::spawn(move || accept(&listener, &accepting));
        Self { gate, address }
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// What happens to the bytes that go to the server.
    pub fn requests(&self, mode: Mode) {
        self.change(|state| state.requests = mode);
    }

    /// What happens to the bytes that come from the server.
    pub fn replies(&self, mode: Mode) {
        self.change(|state| state.replies = mode);
    }

    /// Holds both directions: the sockets stay open and nothing arrives.
    pub fn black_hole(&self) {
        self.change(|state| (state.requests, state.replies) = (Mode::Hold, Mode::Hold));
    }

    /// Ends every mode and the refusing of connections; what was held back arrives now.
    pub fn heal(&self) {
        self.change(|state| {
            (state.requests, state.replies) = (Mode::Pass, Mode::Pass);
            state.refusing = false;
        });
    }

    /// Cuts the connection at the next request that contains `pattern`: the server never sees it.
    /// An empty pattern means the very next one.
    pub fn cut_next_request(&self, pattern: &str) {
        self.change(|state| state.cut_request = Some(pattern.into()));
    }

    /// Lets the next request that contains `pattern` pass to the server, and cuts the connection at
    /// its reply: the request is applied, and the client never learns it.
    pub fn cut_next_reply(&self, pattern: &str) {
        self.change(|state| state.cut_reply = Some(pattern.into()));
    }

    /// How many connections were cut so far by the two above.
    pub fn cuts(&self) -> usize {
        self.gate.lock().cuts
    }

    /// Whether new connections are closed as soon as they are made.
    pub fn refuse(&self, refusing: bool) {
        self.change(|state| state.refusing = refusing);
    }

    /// Closes every connection, and loses what was held back.
    pub fn kill_connections(&self) {
        self.change(State::kill_links);
    }

    /// Sends new connections to another server: a failover.
    pub fn redirect(&self, port: u16) {
        self.change(|state| state.target = (Ipv4Addr::LOCALHOST, port).into());
    }

    /// How many connections were accepted so far.
    pub fn accepted(&self) -> u64 {
        self.gate.lock().accepted
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.gate.lock());
        self.gate.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.change(|state| {
            state.closed = true;
            state.kill_links();
        });
        // Wakes the accepting thread, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no proxy thread panics")
    }

    /// Decides on a chunk; blocks as long as it is held or delayed.
    fn admit(&self, id: u64, direction: Direction, chunk: &[u8]) -> Verdict {
        let arrived = Instant::now();
        let mut state = self.lock();
        loop {
            if !state.links.contains_key(&id) {
                return Verdict::Drop;
            }
            state = match state.mode(direction) {
                Mode::Pass => return state.decide(id, direction, chunk),
                Mode::Hold => self.changed.wait(state).expect("no proxy thread panics"),
                Mode::Delay(delay) => {
                    let rest = delay.saturating_sub(arrived.elapsed());
                    if rest.is_zero() {
                        return state.decide(id, direction, chunk);
                    }
                    self.changed
                        .wait_timeout(state, rest)
                        .expect("no proxy thread panics")
                        .0
                }
            };
        }
    }
}

impl State {
    fn mode(&self, direction: Direction) -> Mode {
        match direction {
            Direction::ToServer => self.requests,
            Direction::ToClient => self.replies,
        }
    }

    fn decide(&mut self, id: u64, direction: Direction, chunk: &[u8]) -> Verdict {
        let link = self.links.get_mut(&id).expect("the caller has looked");
        match direction {
            Direction::ToServer if matches(&self.cut_request, chunk) => {
                self.cut_request = None;
                self.cuts += 1;
                Verdict::Drop
            }
            Direction::ToServer => {
                if matches(&self.cut_reply, chunk) {
                    self.cut_reply = None;
                    link.reply_is_cut = true;
                }
                Verdict::Forward
            }
            Direction::ToClient if link.reply_is_cut => {
                self.cuts += 1;
                Verdict::Drain
            }
            Direction::ToClient => Verdict::Forward,
        }
    }

    /// Notes that one direction of a link has ended.
    fn end(&mut self, id: u64) {
        if let Some(link) = self.links.get_mut(&id) {
            link.ended += 1;
            if link.ended == 2 {
                self.links.remove(&id);
            }
        }
    }

    fn kill_links(&mut self) {
        for (_, link) in self.links.drain() {
            link.close();
        }
    }
}

impl Link {
    fn close(&self) {
        // A socket that the other side has closed already cannot be shut down: all the better.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn matches(pattern: &Option<Vec<u8>>, chunk: &[u8]) -> bool {
    pattern.as_ref().is_some_and(|pattern| {
        pattern.is_empty() || chunk.windows(pattern.len()).any(|window| window == pattern)
    })
}

fn accept(listener: &TcpListener, gate: &Arc<Gate>) {
    for client in listener.incoming().map_while(Result::ok) {
        let (target, refusing) = {
            let state = gate.lock();
            if state.closed {
                return;
            }
            (state.target, state.refusing)
        };
        if refusing {
            continue;
        }
        // No server: the client sees its connection closed, as it would with a server that died.
        let Ok(server) = TcpStream::connect(target) else {
            continue;
        };
        join(client, server, gate);
    }
}

/// Makes a link of two sockets and starts its threads.
fn join(client: TcpStream, server: TcpStream, gate: &Arc<Gate>) {
    client
        .set_nodelay(true)
        .expect("a socket takes this option");
    server
        .set_nodelay(true)
        .expect("a socket takes this option");
    let copy = |socket: &TcpStream| socket.try_clone().expect("a socket can be cloned");
    let (to_server, to_client) = (
        (copy(&client), copy(&server)),
        (copy(&server), copy(&client)),
    );

    let mut state = gate.lock();
    state.accepted += 1;
    let id = state.accepted;
    state.links.insert(
        id,
        Link {
            client,
            server,
            reply_is_cut: false,
            ended: 0,
        },
    );
    drop(state);

    for (direction, (from, to)) in [
        (Direction::ToServer, to_server),
        (Direction::ToClient, to_client),
    ] {
        let gate = Arc::clone(gate);
        thread::spawn(move || {
            pump(&gate, id, direction, from, to);
            gate.lock().end(id);
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
                if to.write_all(chunk).is_err() {
                    break;
                }
            }
            Verdict::Drop => {
                if let Some(link) = gate.lock().links.remove(&id) {
                    link.close();
                }
                return;
            }
            Verdict::Drain => {
                // Closing the server's socket with unread bytes would reset it, and the server
                // might throw away a request that it has not read. The other thread sees the
                // client's end and passes it on, so the server ends the connection by itself.
                let _ = to.shutdown(Shutdown::Both);
                while let Ok(1..) = from.read(&mut buffer) {}
                return;
            }
        }
    }
    // The end is passed on behind the last byte; the other direction may still be busy.
    let _ = to.shutdown(Shutdown::Write);
}
