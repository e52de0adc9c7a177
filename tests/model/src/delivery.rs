//! A command arrives at the server, which runs its script, answers, and announces grants.

use crate::audit::{AuditedRun, Breach};
use crate::client::{Client, Phase};
use crate::configuration::Configuration;
use crate::moves::Reception;
use crate::network::{Incoming, Kind, Reply, Request, Server};
use crate::server::{
    Answer, Command, Member, Mode, Ours, OwnerId, Records, Refusal, Share, Site, Token,
};
use crate::world::World;

/// The bits of the scripts that are neither for plain locks nor for shares.
const RESERVES: u16 = 1 << 8;
const MINTS: u16 = 1 << 9;

impl World {
    /// The server runs a command, and sends the answer and its announcements.
    pub(crate) fn deliver(&mut self, id: u8, request: Request, configuration: &Configuration) {
        let now = self.clock + configuration.turns;
        let command = command_of(id, &request, configuration.writes, now);
        let mode = match self.reception(request.server, command) {
            Reception::Runs(mode) => Some(mode),
            Reception::Redirects { has_moved } => {
                let client = self.client(id);
                if request.awaited && client.alive {
                    let redirect = Incoming::Redirect { request, has_moved };
                    client.connection.down.push(redirect);
                }
                return;
            }
            Reception::Refuses => None,
        };
        let script = match request.kind {
            Kind::Acquire { .. } | Kind::Downgrade { .. } => 1,
            Kind::Renew { .. } => 2,
            Kind::Release => 4,
            Kind::End { .. } => 8,
            Kind::Reserve { .. } => RESERVES,
            // Not a script, so the server always knows it.
            Kind::Take { .. } | Kind::Delete { .. } => 0,
            Kind::Mint { .. } => MINTS,
        };
        let of_shares = request.share.is_some()
            || configuration.writes && matches!(request.kind, Kind::End { .. });
        // One script serves both, since a share has no minimum.
        let script = script << if of_shares && script < RESERVES { 4 } else { 0 };
        if request.has_text {
            self.scripts |= script;
        }
        let is_known = self.scripts & script == script;
        let (mut in_the_way, mut holds_later) = (0, false);
        let answer = match mode {
            None => Some(Answer::Unavailable),
            Some(_) if !configuration.together.is_empty() => {
                let run = self.run_together(id, command, configuration);
                (in_the_way, holds_later) = (run.in_the_way as u8, run.holds_later);
                Some(run.answer)
            }
            Some(mode) => is_known.then(|| {
                let run = |world: &mut World| world.run(command, &request, mode, configuration);
                self.on_server(request.server, run)
            }),
        };
        let granted = self.note_grant(command, answer, configuration);
        let client = self.client(id);
        if request.awaited && client.alive {
            let counts = matches!(answer, Some(Answer::Held { .. }));
            client.connection.down.push(Incoming::Reply(Reply {
                number: request.number,
                kind: request.kind,
                answer: answer.map(plain),
                age: if counts { request.age } else { 0 },
                granted,
                in_the_way,
                holds_later,
            }));
        }
    }

    fn run(
        &mut self,
        command: Command,
        request: &Request,
        mode: Mode,
        configuration: &Configuration,
    ) -> Answer {
        let server = request.server;
        let (before, answer) = self.run_command(server, command, mode, configuration);
        self.note_taken_anew(&before, command, answer);
        self.note_barged(&before, command, answer);
        self.note_reserve(&before, command, answer);
        self.note_freed(&before, command);
        if let Command::Renew { owner, .. } | Command::ShareRenew { owner, .. } = command
            && request.awaited
            && answer == Answer::Nil
            && self.records.share(owner).is_some()
        {
            self.breaches.add(Breach::WronglyLost);
        }
        answer
    }

    /// Notes a grant without a token, or its confirmation, and returns its time. Later grants have a later one.
    fn note_grant(
        &mut self,
        command: Command,
        answer: Option<Answer>,
        configuration: &Configuration,
    ) -> Token {
        let asks = matches!(command, Command::Acquire { .. } | Command::Take { .. });
        if !asks || !matches!(answer, Some(Answer::Held { token: 0, .. })) {
            return 0;
        }
        self.clock += configuration.turns;
        self.clock
    }

    /// Runs a script and sends its announcements. Returns the previous records and the answer.
    pub(crate) fn run_command(
        &mut self,
        server: Server,
        command: Command,
        mode: Mode,
        configuration: &Configuration,
    ) -> (Records, Answer) {
        let rules = configuration.rules();
        let site = self.site(server, mode, configuration);
        let before = self.records.clone();
        let run = self.records.run(command, &rules, &site);
        let step = AuditedRun {
            before: &before,
            command,
            answer: run.answer,
            after: &self.records,
            mode,
            receivers: site.receivers,
            silent: rules.live - rules.claim,
            walk: rules.shares.walk,
            writes: configuration.writes,
            last: self.known_to(server),
            highest: self.last,
            now: self.clock + rules.turns,
            turns: rules.turns,
        };
        step.audit(&mut self.breaches);
        if let Some(Ours { token, .. }) = self.records.ours() {
            self.last = self.last.max(token);
            self.clock = self.clock.max(self.last);
            self.known = match server {
                Server::Target => self.known.map(|known| known.max(token)),
                Server::Source => self.known,
            };
        }
        for owner in run.announced {
            let share = self.granted_share(owner);
            let is_reached = self.reaches(server, &self.clients[usize::from(owner.client)]);
            let client = self.client(owner.client);
            if client.alive && is_reached {
                let push = Incoming::Push(owner.number, share);
                client.connection.down.push(push);
            }
        }
        (before, run.answer)
    }

    /// The circumstances of a script on this server.
    pub(crate) fn site(&self, server: Server, mode: Mode, configuration: &Configuration) -> Site {
        let is_behind = self.is_behind(server, configuration.skew);
        let counts = |client: &Client| {
            let is_here = client.subscribed && client.connection.server == server;
            is_here && configuration.publish_counts
        };
        let counted = |(id, client)| u8::from(counts(client)) << id;
        Site {
            now: if is_behind {
                0
            } else {
                self.clock + configuration.turns
            },
            receivers: (0..).zip(&self.clients).map(counted).sum(),
            mode,
        }
    }

    /// Notes how long a lock must stay taken, and whether an end frees it early.
    fn note_reserve(&mut self, before: &Records, command: Command, answer: Answer) {
        if let (Command::Reserve { ttl, .. }, Answer::Code(1)) = (command, answer) {
            self.minimum = ttl;
        }
        let is_reserve = matches!(command, Command::Reserve { .. });
        let Some(owner) = command.ended().filter(|_| !is_reserve) else {
            return;
        };
        let is_ended = before.holder() == Some(owner) && self.records.holder() != Some(owner);
        let client = self.client(owner.client);
        let index = client.find(owner.number).filter(|_| is_ended);
        let end = index.and_then(|index| client.owners[index].end());
        if end.is_some_and(|end| end.ending.reserves()) {
            self.breaches.add(Breach::FreedEarly);
        }
    }

    /// Notes that an end has freed its owner's locks.
    fn note_freed(&mut self, before: &Records, command: Command) {
        let Some(owner) = command.ended() else {
            return;
        };
        // A lapsed share is removed like any other, unless a lock came in between.
        let has_it = |records: &Records| {
            let mut members = records.members().iter();
            records.holder() == Some(owner) || members.any(|member| member.owner == owner)
        };
        if has_it(before) && !has_it(&self.records) {
            self.note_freed_of(owner);
        }
    }

    /// Notes that the owner has lost everything that it held.
    pub(crate) fn note_freed_of(&mut self, owner: OwnerId) {
        let client = self.client(owner.client);
        if let Some(index) = client.find(owner.number)
            && let Phase::Ending(end) = &mut client.owners[index].phase
        {
            end.has_freed = true;
        }
    }

    /// Notes if a lock is taken past a live waiter although no holder lost it.
    fn note_barged(&mut self, before: &Records, command: Command, answer: Answer) {
        let is_taken = matches!(
            (command, answer),
            (Command::Take { .. }, Answer::Held { .. })
        );
        let listens = |owner: OwnerId| self.clients[usize::from(owner.client)].subscribed;
        let mut waiters = before.queue.entries().iter();
        let is_past = waiters.any(|entry| entry.is_live() && listens(entry.owner));
        if is_taken && is_past && !self.lapsed {
            self.breaches.add(Breach::Barged);
        }
    }

    /// Notes if a downgrade takes a lock that was lost before.
    fn note_taken_anew(&mut self, before: &Records, command: Command, answer: Answer) {
        let Command::Downgrade { owner, .. } = command else {
            return;
        };
        let had_it = before.holder() == Some(owner) || before.share(owner).is_some();
        let client = self.client(owner.client);
        if !had_it
            && matches!(answer, Answer::Held { .. })
            && let Some(index) = client.find(owner.number)
            && let Phase::Held(lease) = &mut client.owners[index].phase
        {
            lease.taken_anew = true;
        }
    }

    /// The share that an owner was granted, if it asked for one.
    fn granted_share(&self, owner: OwnerId) -> Option<Share> {
        if let Some(&Member { take, .. }) = self.records.share(owner) {
            return Some(Share { take, limit: 0 });
        }
        self.records.ours()?.share
    }
}

/// The command of a client's request. `writes`: its exclusive owners are writers. `now` is the present time of all
/// clocks that are not behind.
fn command_of(id: u8, request: &Request, writes: bool, now: Token) -> Command {
    let name = |number| OwnerId { client: id, number };
    let owner = name(request.number);
    if let Some(share) = request.share {
        return of_share(request.kind, owner, share, now);
    }
    match request.kind {
        Kind::End { successor: None } if writes => Command::ShareEnd { owner, share: None },
        Kind::Acquire { ttl, queue } => Command::Acquire { owner, ttl, queue },
        Kind::Take { ttl, .. } => Command::Take { owner, ttl },
        // It names the time of the grant, so it may take as long as it likes.
        Kind::Mint { granted } => Command::Mint {
            owner,
            age: now - granted,
        },
        Kind::Downgrade { .. } => unreachable!("its owner asks for a share"),
        Kind::Renew { ttl, .. } => Command::Renew { owner, ttl },
        Kind::Release => Command::Release { owner },
        Kind::Reserve { ttl } => Command::Reserve { owner, ttl },
        Kind::Delete { token } => Command::Delete { owner, token },
        Kind::End { successor } => Command::End {
            owner,
            successor: successor.map(|(number, ttl)| (name(number), ttl)),
        },
    }
}

/// The command of a share's owner.
fn of_share(kind: Kind, owner: OwnerId, share: Share, now: Token) -> Command {
    let take = share.take;
    match kind {
        Kind::Acquire { ttl, queue } => Command::ShareAcquire {
            owner,
            share,
            ttl,
            queue,
        },
        Kind::Downgrade { ttl, granted } => Command::Downgrade {
            owner,
            share,
            ttl,
            age: now - granted,
        },
        Kind::Renew { ttl, .. } => Command::ShareRenew { owner, take, ttl },
        Kind::Release | Kind::Delete { .. } => Command::ShareRelease { owner, take },
        Kind::Take { .. } | Kind::Mint { .. } => unreachable!("a share has a token"),
        Kind::Reserve { .. } => unreachable!("a share has no minimum"),
        Kind::End { .. } => Command::ShareEnd {
            owner,
            share: Some(share),
        },
    }
}

/// The answer without the parts that only time a client's next poll.
fn plain(answer: Answer) -> Answer {
    match answer {
        Answer::Waiting { .. } | Answer::WaitingForShares { .. } => Answer::Waiting {
            remaining: None,
            position: 0,
        },
        Answer::Refused(_) => Answer::Refused(Refusal::WrongType),
        answer => answer,
    }
}
