//! A client's connection: bytes in order both ways, and what is left of the one before it.
//!
//! A connection that is torn down loses what it had to bring back. What it had to bring to the
//! server may still arrive, in order, late or never.

use crate::server::{Answer, Ticks, Token};

/// What a request asks for. Owners go by their number, since all of them are the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Acquire {
        ttl: Ticks,
        queue: bool,
    },
    Renew {
        ttl: Ticks,
    },
    Release,
    /// The release of a server that compares and deletes.
    Delete {
        token: Token,
    },
    End {
        successor: Option<(u8, Ticks)>,
    },
}

/// A command on its way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    /// Since it was sent.
    pub(crate) age: Ticks,
    /// Somebody waits for the answer.
    pub(crate) awaited: bool,
    /// It carries the script's text, not only its digest.
    pub(crate) has_text: bool,
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Incoming {
    Reply(Reply),
    /// A grant for this owner is announced.
    Push(u8),
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reply {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    /// `None`: the server does not know the script.
    pub(crate) answer: Option<Answer>,
    /// Since the command was sent; kept only where a lease counts from it.
    pub(crate) age: Ticks,
}

/// A client's way to the server and back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Connection {
    pub(crate) up: Vec<Request>,
    pub(crate) down: Vec<Incoming>,
    /// Of an earlier connection, and how long it can still arrive.
    pub(crate) stray: Vec<(Request, Ticks)>,
}

impl Connection {
    pub(crate) fn send(&mut self, number: u8, kind: Kind, has_text: bool) {
        self.up.push(Request {
            number,
            kind,
            age: 0,
            awaited: true,
            has_text,
        });
    }

    /// Nobody waits any longer for the answer to the command of this chain.
    pub(crate) fn stop_awaiting(&mut self, number: u8) {
        let renewal = |kind| matches!(kind, Kind::Renew { .. });
        for request in &mut self.up {
            if request.number == number && !renewal(request.kind) {
                request.awaited = false;
            }
        }
        self.down.retain(
            |down| !matches!(down, Incoming::Reply(reply) if reply.number == number && !renewal(reply.kind)),
        );
    }

    /// The connection breaks. What was under way to the server may arrive for `late` more ticks.
    pub(crate) fn tear(&mut self, late: Ticks) {
        self.down.clear();
        let torn = self.up.drain(..).map(|mut request| {
            request.awaited = false;
            request.age = 0;
            (request, late)
        });
        self.stray.extend(torn);
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
