//! A command arrives at the server, which runs its script, answers, and announces grants.

use crate::audit::AuditedRun;
use crate::client::Client;
use crate::configuration::Configuration;
use crate::network::{Incoming, Kind, Reply, Request};
use crate::server::{Answer, Command, Lock, OwnerId, Refusal, Site, Value};
use crate::world::World;

impl World {
    /// The server runs a command, and sends the answer and its announcements.
    pub(crate) fn deliver(&mut self, id: u8, request: Request, configuration: &Configuration) {
        let script = match request.kind {
            Kind::Acquire { .. } => 1,
            Kind::Renew { .. } => 2,
            Kind::Release => 4,
            Kind::End { .. } => 8,
            // Not a script, so the server always knows it.
            Kind::Delete { .. } => 0,
        };
        if request.has_text {
            self.scripts |= script;
        }
        let answer =
            (self.scripts & script == script).then(|| self.run(id, &request, configuration));
        let client = self.client(id);
        if request.awaited && client.alive {
            let counts = matches!(answer, Some(Answer::Held { .. }));
            client.connection.down.push(Incoming::Reply(Reply {
                number: request.number,
                kind: request.kind,
                answer: answer.map(plain),
                age: if counts { request.age } else { 0 },
            }));
        }
    }

    fn run(&mut self, id: u8, request: &Request, configuration: &Configuration) -> Answer {
        let name = |number| OwnerId { client: id, number };
        let owner = name(request.number);
        let command = match request.kind {
            Kind::Acquire { ttl, queue } => Command::Acquire { owner, ttl, queue },
            Kind::Renew { ttl } => Command::Renew { owner, ttl },
            Kind::Release => Command::Release { owner },
            Kind::Delete { token } => Command::Delete { owner, token },
            Kind::End { successor } => Command::End {
                owner,
                successor: successor.map(|(number, ttl)| (name(number), ttl)),
            },
        };
        let rules = configuration.rules();
        let now = if self.behind {
            0
        } else {
            self.last + rules.turns
        };
        let counted = |(id, client): (u8, &Client)| u8::from(client.subscribed) << id;
        let receivers = (0..).zip(&self.clients).map(counted).sum();
        let site = Site {
            now,
            receivers: if configuration.publish_counts {
                receivers
            } else {
                0
            },
            mode: self.mode,
        };
        let before = self.records.clone();
        let run = self.records.run(command, &rules, &site);
        let step = AuditedRun {
            before: &before,
            command,
            answer: run.answer,
            after: &self.records,
            mode: self.mode,
            last: self.last,
            turns: rules.turns,
        };
        step.audit(&mut self.breaches);
        if let Some(Lock {
            value: Value::Ours { token, .. },
            ..
        }) = self.records.lock
        {
            self.last = self.last.max(token);
        }
        for owner in run.announced {
            let client = self.client(owner.client);
            if client.alive && client.subscribed {
                client.connection.down.push(Incoming::Push(owner.number));
            }
        }
        run.answer
    }
}

/// An answer without the parts by which clients only choose the time of their next poll.
fn plain(answer: Answer) -> Answer {
    match answer {
        Answer::Waiting { .. } => Answer::Waiting {
            remaining: None,
            position: 0,
        },
        Answer::Refused(_) => Answer::Refused(Refusal::WrongType),
        answer => answer,
    }
}
