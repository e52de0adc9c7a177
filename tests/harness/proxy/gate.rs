//! The treatment of each chunk, decided under one mutex.

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::Mode;

/// The position of the sender's id in a message of the cluster bus.
const SENDER: Range<usize> = 40..80;

/// The shared state that all links consult before they move a chunk.
#[derive(Debug)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

/// The faults that the test requested, and the links.
#[derive(Debug)]
pub(super) struct State {
    pub(super) target: SocketAddr,
    pub(super) requests: Mode,
    pub(super) replies: Mode,
    pub(super) held_node: Option<Vec<u8>>,
    pub(super) cut_request: Option<Vec<u8>>,
    pub(super) cut_reply: Option<Vec<u8>>,
    pub(super) cuts: usize,
    pub(super) replace: Option<(String, String)>,
    pub(super) refusing: bool,
    pub(super) closed: bool,
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// The requests that were held back, including those that have passed since.
    pub(super) held: Vec<Vec<u8>>,
    links: HashMap<u64, Link>,
}

#[derive(Debug)]
struct Link {
    client: TcpStream,
    server: TcpStream,
    // The cluster node that opened the link, once it has sent something.
    node: Option<Vec<u8>>,
    // The reply to a request of this link must be cut.
    reply_is_cut: bool,
    // The server's side has ended, and the client must not notice.
    halved: bool,
    // The answer to every command, which the server does not get.
    refusal: Option<String>,
    // The directions that have ended; after both, the sockets are closed.
    ended: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    ToServer,
    ToClient,
}

/// The gate's decision about one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Forward,
    /// The chunk is lost.
    Lose,
    /// The chunk is lost, and each of its commands is refused.
    Refuse,
    /// The chunk is lost, and the link with it.
    Drop,
    /// The chunk is lost, and the client sees a closed connection. The server must still receive all
    /// earlier bytes.
    Drain,
}

impl Gate {
    pub(super) fn new(target: SocketAddr) -> Self {
        let state = State {
            target,
            requests: Mode::Pass,
            replies: Mode::Pass,
            held_node: None,
            cut_request: None,
            cut_reply: None,
            cuts: 0,
            replace: None,
            refusing: false,
            closed: false,
            accepted: 0,
            refused: 0,
            held: Vec::new(),
            links: HashMap::new(),
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no proxy thread panics")
    }

    /// Changes the state, and wakes the links that are held.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Decides about a chunk; blocks while the chunk is held or delayed.
    pub(super) fn admit(&self, id: u64, direction: Direction, chunk: &[u8]) -> Verdict {
        let (arrived, mut is_noted) = (Instant::now(), false);
        let mut state = self.lock();
        loop {
            let State {
                links, held_node, ..
            } = &mut *state;
            let Some(link) = links.get_mut(&id) else {
                return Verdict::Drop;
            };
            if direction == Direction::ToServer && link.node.is_none() {
                link.node = chunk.get(SENDER).map(<[u8]>::to_vec);
            }
            let is_held = held_node.is_some() && link.node == *held_node;
            let mode = match direction {
                _ if is_held => Mode::Hold,
                Direction::ToServer => state.requests,
                Direction::ToClient => state.replies,
            };
            state = match mode {
                Mode::Pass => return state.decide(id, direction, chunk),
                Mode::Hold => {
                    if direction == Direction::ToServer && !is_noted {
                        state.held.push(chunk.to_vec());
                        is_noted = true;
                    }
                    self.changed.wait(state).expect("no proxy thread panics")
                }
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
    /// Adds a link and returns its id; none if the test refuses connections now.
    pub(super) fn add_link(&mut self, client: TcpStream, server: TcpStream) -> Option<u64> {
        if self.refusing || self.closed {
            self.refused += 1;
            return None;
        }
        self.accepted += 1;
        self.links.insert(
            self.accepted,
            Link {
                client,
                server,
                node: None,
                reply_is_cut: false,
                halved: false,
                refusal: None,
                ended: 0,
            },
        );
        Some(self.accepted)
    }

    /// The replacement for a chunk from the server, if there is one.
    pub(super) fn replaced(&self, chunk: &[u8]) -> Option<String> {
        let (from, to) = self.replace.as_ref()?;
        let text = str::from_utf8(chunk).ok()?;
        text.contains(from).then(|| text.replace(from, to))
    }

    /// Closes one link, and drops the bytes that it holds back.
    pub(super) fn kill_link(&mut self, id: u64) {
        if let Some(link) = self.links.remove(&id) {
            link.close();
        }
    }

    /// Closes all links, and drops the bytes that they hold back.
    pub(super) fn kill_links(&mut self) {
        for (_, link) in self.links.drain() {
            link.close();
        }
    }

    /// Closes the server's side of all links.
    pub(super) fn halve_links(&mut self) {
        for link in self.links.values_mut() {
            link.halved = true;
            // The server may have closed it already.
            let _ = link.server.shutdown(Shutdown::Both);
        }
    }

    /// Refuses all commands on the current links with this error.
    pub(super) fn forget_logins(&mut self, error: &str) {
        for link in self.links.values_mut() {
            link.refusal = Some(format!("-{error}\r\n"));
        }
    }

    /// The answers to these commands, if their link refuses all commands.
    pub(super) fn refusals(&self, id: u64, commands: &[u8]) -> String {
        let refusal = self.links.get(&id).and_then(|link| link.refusal.as_ref());
        // Each command is an array, and no argument of these clients begins like one.
        let lines = commands.split(|&byte| byte == b'\n');
        let count = lines.filter(|line| line.starts_with(b"*")).count();
        refusal.map_or(String::new(), |refusal| refusal.repeat(count))
    }

    /// Whether the end of the server's side is hidden from the client.
    pub(super) fn is_halved(&self, id: u64) -> bool {
        self.links.get(&id).is_some_and(|link| link.halved)
    }

    /// Records that one direction of a link has ended.
    pub(super) fn end_direction(&mut self, id: u64) {
        if let Some(link) = self.links.get_mut(&id) {
            link.ended += 1;
            if link.ended == 2 {
                self.links.remove(&id);
            }
        }
    }

    fn decide(&mut self, id: u64, direction: Direction, chunk: &[u8]) -> Verdict {
        let link = self.links.get_mut(&id).expect("the caller has checked it");
        match direction {
            _ if link.halved => Verdict::Lose,
            Direction::ToServer if link.refusal.is_some() => Verdict::Refuse,
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
}

impl Link {
    fn close(&self) {
        // A socket that the other side has closed already cannot be shut down, which is fine.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn matches(pattern: &Option<Vec<u8>>, chunk: &[u8]) -> bool {
    let pattern = pattern.as_ref();
    pattern.is_some_and(|pattern| pattern.is_empty() || has(chunk, pattern))
}

/// Whether the chunk contains the pattern, which is not empty.
pub(super) fn has(chunk: &[u8], pattern: &[u8]) -> bool {
    chunk.windows(pattern.len()).any(|window| window == pattern)
}
