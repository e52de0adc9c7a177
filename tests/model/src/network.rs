//! A client's connection: messages in order both ways, and late commands of the previous connection.
//!
//! A connection that is torn down loses its replies and announcements. Its commands may still reach
//! the server, in order, late or never.

use std::time::Duration;

use crate::backend::wire::PRESENT;
use crate::backend::wire::outstanding::ConnectionId;
use crate::server::{Answer, Share, Ticks, Token};

/// The destination of a command. There are two servers only while the lock moves from one to the
/// other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Server {
    /// The server that the lock is on at the end.
    #[default]
    Target,
    /// The server that the lock leaves.
    Source,
}

/// The content of a request. It identifies owners by number, since all of them belong to the
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Acquire {
        ttl: Ticks,
        queue: bool,
    },
    /// Takes the lock if it is free, without a script and without a token. If the lock is taken, an
    /// acquire follows.
    Take {
        ttl: Ticks,
        queue: bool,
    },
    /// Mints a token for the sender, which holds the lock without one.
    Mint {
        /// The time of the grant, which the client has from the server before.
        granted: Token,
    },
    /// Turns the sender's lock into a share.
    Downgrade {
        ttl: Ticks,
        /// The time of the grant, if it has no token.
        granted: Token,
    },
    Renew {
        ttl: Ticks,
        /// It was sent for a lease in doubt.
        confirms: bool,
    },
    Release,
    /// A release by a command that compares and deletes.
    Delete {
        token: Token,
    },
    End {
        successor: Option<(u8, Ticks)>,
    },
    /// Keeps the lock taken for this long after its holder is done.
    Reserve {
        ttl: Ticks,
    },
}

/// A command on its way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    pub(crate) server: Server,
    /// The share that its owner asks for; the command then runs a script of shares.
    pub(crate) share: Option<Share>,
    /// The time since it was sent.
    pub(crate) age: Ticks,
    /// The client waits for the answer.
    pub(crate) awaited: bool,
    /// The command carries the script's text, not only its digest.
    pub(crate) has_text: bool,
}

/// A message from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Incoming {
    Reply(Reply),
    /// The lock, or a part of it, is on the target of its move: MOVED, or ASK as long as the slot has not moved.
    Redirect {
        request: Request,
        has_moved: bool,
    },
    /// The announcement of a grant for this owner, and the share that the owner asked for. A client
    /// remembers the share longer than the owner.
    Push(u8, Option<Share>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reply {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    /// `None`: the server does not know the script.
    pub(crate) answer: Option<Answer>,
    /// The time since the command was sent; counted only where a lease counts from it.
    pub(crate) age: Ticks,
    /// When a lock without a token was granted, or its grant confirmed; otherwise zero.
    pub(crate) granted: Token,
    /// With several locks, the one that the owner waits for, and whether it has a later one.
    pub(crate) in_the_way: u8,
    pub(crate) holds_later: bool,
}

/// A client's connection to the server. While a slot moves there is one to each of two servers,
/// with a single order of commands on both. That suffices: a source that has redirected a command
/// runs no further commands of that lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Connection {
    /// Distinguishes it from earlier connections.
    pub(crate) id: ConnectionId,
    /// Where the client sends its commands.
    pub(crate) server: Server,
    /// The client knows that another server has taken over.
    pub(crate) has_noticed: bool,
    pub(crate) up: Vec<Request>,
    pub(crate) down: Vec<Incoming>,
    /// Commands of an earlier connection, and how long each can still arrive.
    pub(crate) stray: Vec<(Request, Ticks)>,
}

impl Default for Connection {
    fn default() -> Connection {
        Connection {
            id: PRESENT,
            server: Server::default(),
            has_noticed: false,
            up: Vec::new(),
            down: Vec::new(),
            stray: Vec::new(),
        }
    }
}

impl Incoming {
    /// The owner and the kind of the command that this message answers.
    pub(crate) fn command(&self) -> Option<(u8, Kind)> {
        match self {
            Incoming::Reply(reply) => Some((reply.number, reply.kind)),
            Incoming::Redirect { request, .. } => Some((request.number, request.kind)),
            Incoming::Push(..) => None,
        }
    }
}

impl Kind {
    /// Whether it ends its owner.
    pub(crate) fn ends(self) -> bool {
        matches!(
            self,
            Kind::Release | Kind::Delete { .. } | Kind::End { .. } | Kind::Reserve { .. }
        )
    }
}

impl Connection {
    /// All requests in flight to the server, including those of closed connections.
    pub(crate) fn requests_mut(&mut self) -> impl Iterator<Item = &mut Request> {
        let stray = self.stray.iter_mut().map(|(request, _)| request);
        self.up.iter_mut().chain(stray)
    }

    pub(crate) fn send(&mut self, number: u8, kind: Kind, share: Option<Share>, has_text: bool) {
        self.up.push(Request {
            number,
            kind,
            server: self.server,
            share,
            age: 0,
            awaited: true,
            has_text,
        });
    }

    /// The client no longer waits for answers to this owner, except to its renewals and mints.
    pub(crate) fn stop_awaiting(&mut self, number: u8) {
        let stays = |kind| matches!(kind, Kind::Renew { .. } | Kind::Mint { .. });
        self.stop_awaiting_if(number, |kind| !stays(kind));
    }

    /// The client no longer awaits a mint, since the caller that requested it is gone.
    pub(crate) fn stop_awaiting_mint(&mut self, number: u8) {
        self.stop_awaiting_if(number, |kind| matches!(kind, Kind::Mint { .. }));
    }

    fn stop_awaiting_if(&mut self, number: u8, is_it: impl Fn(Kind) -> bool) {
        for request in &mut self.up {
            if request.number == number && is_it(request.kind) {
                request.awaited = false;
            }
        }
        let is_one = |(of, kind)| of == number && is_it(kind);
        self.down.retain(|down| !down.command().is_some_and(is_one));
    }

    /// Whether a renewal of this owner, or its answer, is in flight.
    pub(crate) fn is_renewing(&self, number: u8) -> bool {
        let is_one = |(of, kind)| of == number && matches!(kind, Kind::Renew { .. });
        let mut up = self.up.iter();
        let mut down = self.down.iter();
        up.any(|request| is_one((request.number, request.kind)))
            || down.any(|down| down.command().is_some_and(is_one))
    }

    /// The connection breaks. Commands in flight may still arrive for `late` ticks.
    pub(crate) fn tear(&mut self, late: Ticks) {
        self.down.clear();
        let torn = self.up.drain(..).map(|mut request| {
            request.awaited = false;
            request.age = 0;
            (request, late)
        });
        self.stray.extend(torn);
        self.id = ConnectionId(self.id.0 + 1);
    }

    pub(crate) fn tick(&mut self, oldest: Ticks) {
        for request in &mut self.up {
            request.age = (request.age + 1).min(oldest);
        }
        for down in &mut self.down {
            if let Incoming::Reply(reply) = down
                && matches!(reply.answer, Some(Answer::Held { .. }))
            {
                reply.age = (reply.age + 1).min(oldest);
            }
        }
        for (_, late) in &mut self.stray {
            *late -= 1;
        }
        self.stray.retain(|&(_, late)| late > 0);
    }
}

/// A tick in the units of the runtime's decisions: an owner is settled after two of them, or after
/// a ttl.
pub(crate) const TICK: Duration = Duration::from_secs(5);

/// Converts ticks to the units of the runtime's decisions.
pub(crate) fn duration(ticks: Ticks) -> Duration {
    TICK * ticks.max(0).unsigned_abs()
}

/// Converts a time back to ticks.
pub(crate) fn ticks(time: Duration) -> Ticks {
    (time.as_secs() / TICK.as_secs()) as Ticks
}
