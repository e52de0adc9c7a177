//! A client's connection: messages in order both ways, and commands of the connection before it.
//!
//! A connection that is torn down loses its replies and announcements. Its commands may still reach
//! the server, in order, late or never.

use crate::server::{Answer, Share, Ticks, Token};

/// What a request asks for. It names owners by number, since all of them are the client's.
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
    /// A release by a command that compares and deletes.
    Delete {
        token: Token,
    },
    End {
        successor: Option<(u8, Ticks)>,
    },
    /// Keeps the lock taken for so long, although its holder is done.
    Rest {
        ttl: Ticks,
    },
}

/// A command on its way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    /// The share that its owner asks for: then the script is that of shares.
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
    /// The announcement of a grant for this owner, and the share that the owner asked for: a client
    /// remembers it beyond the owner's end.
    Push(u8, Option<Share>),
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reply {
    pub(crate) number: u8,
    pub(crate) kind: Kind,
    /// `None`: the server does not know the script.
    pub(crate) answer: Option<Answer>,
    /// The time since the command was sent; counted only where a lease counts from it.
    pub(crate) age: Ticks,
}

/// A client's connection to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Connection {
    pub(crate) up: Vec<Request>,
    pub(crate) down: Vec<Incoming>,
    /// Commands of an earlier connection, and how long each can still arrive.
    pub(crate) stray: Vec<(Request, Ticks)>,
}

impl Connection {
    pub(crate) fn send(&mut self, number: u8, kind: Kind, share: Option<Share>, has_text: bool) {
        self.up.push(Request {
            number,
            kind,
            share,
            age: 0,
            awaited: true,
            has_text,
        });
    }

    /// The client no longer waits for answers to this owner, except to its renewals.
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

    /// The connection breaks. Commands under way may arrive for `late` more ticks.
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
