//! Everything at one moment, and every step that may come next.

use crate::audit::{Breach, Breaches, Step};
use crate::client::{Body, Client, Phase};
use crate::conduct::{AcquiredAfterEnd, Terms};
use crate::configuration::Configuration;
use crate::faults::{Budget, Fault};
use crate::network::{Down, Kind, Reply, Request};
use crate::server::{Answer, Command, Lock, Mode, Owner, Records, Site, Ticks, Token, Value};

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) records: Records,
    /// One bit for each script that the server knows.
    pub(crate) scripts: u8,
    pub(crate) mode: Mode,
    /// The server's clock is behind the last token.
    pub(crate) behind: bool,
    /// The highest token that was ever granted.
    pub(crate) last: Token,
    pub(crate) replica: Option<Records>,
    pub(crate) clients: Vec<Client>,
    pub(crate) budget: Budget,
    pub(crate) breaches: Breaches,
}

/// A step. The first number is a client, the second an owner of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes.
    Tick,
    /// A caller comes.
    Arrive(u8),
    /// A waiter asks for the lock.
    Poll(u8, u8),
    /// The lock is handed over and the body runs.
    Start(u8, u8),
    /// The body is over.
    Finish(u8, u8),
    /// The deadline is found to have passed.
    Lose(u8, u8),
    /// The lease is renewed, to this.
    Renew(u8, u8, Ticks),
    /// An owner is ended once more.
    EndAgain(u8, u8),
    /// A client takes what came.
    Receive(u8),
    /// The server takes a client's next command.
    Deliver(u8),
    /// The server gets a command of a connection that was torn down.
    DeliverStray(u8),
    /// The server finds out that a client is gone.
    Notice(u8),
    /// A caller's time is up, or it is dropped.
    GiveUp(u8, u8),
    /// A caller behind the head of its line gives up.
    LeaveLine(u8),
    /// A command of an owner is not answered in time.
    TimeOut(u8, u8),
    /// A command is lost.
    LoseRequest(u8),
    /// What a client would get next is lost.
    LoseDown(u8),
    /// A command is carried out, and will be once more.
    Double(u8),
    /// A fault that concerns one client.
    Strike(Fault, u8),
    /// A fault that concerns the server.
    Happen(Fault),
    /// Something keeps the server from doing all it is asked to.
    Impair(Mode),
    /// Nothing does any longer.
    Mend,
}

impl World {
    pub(crate) fn new(configuration: &Configuration) -> World {
        World {
            records: Records::default(),
            scripts: if configuration.budget.allows(Fault::Flush) {
                0
            } else {
                u8::MAX
            },
            mode: Mode::Normal,
            behind: false,
            last: 0,
            replica: None,
            clients: configuration
                .calls
                .iter()
                .map(|&calls| Client::new(calls))
                .collect(),
            budget: configuration.budget,
            breaches: Breaches::default(),
        }
    }

    /// What may come next, faults aside.
    pub(crate) fn actions(&self, configuration: &Configuration, actions: &mut Vec<Action>) {
        if self.time_may_pass(configuration) {
            actions.push(Action::Tick);
        }
        for (id, client) in (0..).zip(&self.clients) {
            if !client.link.up.is_empty() {
                actions.push(Action::Deliver(id));
            }
            if !client.link.stray.is_empty() {
                actions.push(Action::DeliverStray(id));
            }
            if !client.alive {
                if client.heard {
                    actions.push(Action::Notice(id));
                }
                continue;
            }
            if client.to_come > 0 {
                actions.push(Action::Arrive(id));
            }
            if !client.link.down.is_empty() {
                actions.push(Action::Receive(id));
            }
            for episode in &client.episodes {
                let number = episode.number;
                match &episode.phase {
                    Phase::Competing { .. } if !episode.waiting => {
                        actions.push(Action::Poll(id, number));
                    }
                    Phase::Ending {
                        step: crate::client::Step::Settle,
                        ..
                    } if !episode.waiting => actions.push(Action::EndAgain(id, number)),
                    Phase::Held(hold) => {
                        let synchronous = configuration.terms().synchronous;
                        let inside = hold.body == Body::Inside;
                        if !inside && hold.is_valid() {
                            actions.push(Action::Start(id, number));
                        }
                        if inside && (hold.is_valid() || synchronous) {
                            actions.push(Action::Finish(id, number));
                        }
                        if hold.deadline == 0 && !hold.lost {
                            actions.push(Action::Lose(id, number));
                        }
                        let ttl = configuration.ttl;
                        if hold.is_valid() && hold.deadline < ttl && !hold.renewing {
                            if self.budget.allows(Fault::Renew) {
                                actions.push(Action::Renew(id, number, ttl));
                            }
                            if let Some(short) = configuration.short_renewal
                                && self.budget.allows(Fault::Renew)
                            {
                                actions.push(Action::Renew(id, number, short));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A command takes only so long to arrive, or it is lost. Clients may be as slow as they like.
    fn time_may_pass(&self, configuration: &Configuration) -> bool {
        self.clients.iter().all(|client| {
            let mut up = client.link.up.iter();
            up.all(|request| request.age < configuration.delay)
        })
    }

    /// Does one step.
    pub(crate) fn step(&mut self, action: Action, configuration: &Configuration) {
        let terms = configuration.terms();
        let sent = match action {
            Action::Tick => {
                self.tick(configuration);
                Ok(())
            }
            Action::Arrive(id) => self.client(id).arrive(&terms),
            Action::Poll(id, number) => self.on(id, number, |c, i| c.poll(i, &terms)),
            Action::Start(id, number) => self.on(id, number, |client, index| {
                client.start(index);
                Ok(())
            }),
            Action::Finish(id, number) => self.on(id, number, |c, i| c.give_back(i, &terms)),
            Action::Lose(id, number) => self.on(id, number, |c, i| c.lose(i, &terms)),
            Action::Renew(id, number, ttl) => {
                self.budget.spend(Fault::Renew);
                self.on(id, number, |c, i| c.renew(i, ttl))
            }
            Action::EndAgain(id, number) => self.on(id, number, |c, i| c.end_again(i, &terms)),
            Action::Receive(id) => self.client(id).receive(&terms),
            Action::Deliver(id) => {
                let request = self.client(id).link.up.remove(0);
                self.deliver(id, request, configuration);
                Ok(())
            }
            Action::DeliverStray(id) => {
                let (request, _) = self.client(id).link.stray.remove(0);
                self.deliver(id, request, configuration);
                Ok(())
            }
            Action::Notice(id) => {
                self.client(id).heard = false;
                Ok(())
            }
            fault => self.fault(fault, configuration),
        };
        self.note(sent);
    }

    pub(crate) fn note(&mut self, sent: Result<(), AcquiredAfterEnd>) {
        if sent.is_err() {
            self.breaches.add(Breach::AcquiredAfterEnd);
        }
    }

    pub(crate) fn client(&mut self, id: u8) -> &mut Client {
        &mut self.clients[usize::from(id)]
    }

    pub(crate) fn on(
        &mut self,
        id: u8,
        number: u8,
        act: impl FnOnce(&mut Client, usize) -> Result<(), AcquiredAfterEnd>,
    ) -> Result<(), AcquiredAfterEnd> {
        let client = self.client(id);
        let index = client.find(number).expect("the action names an owner");
        act(client, index)
    }

    fn tick(&mut self, configuration: &Configuration) {
        self.records.tick();
        if let Some(replica) = &mut self.replica {
            replica.tick();
        }
        let oldest = configuration.ttl.max(configuration.delay);
        for client in &mut self.clients {
            client.tick(oldest);
        }
    }

    /// The server runs a command and sends the answer, and what it announces.
    pub(crate) fn deliver(&mut self, id: u8, request: Request, configuration: &Configuration) {
        let script = match request.kind {
            Kind::Acquire { .. } => 1,
            Kind::Renew { .. } => 2,
            Kind::Release => 4,
            Kind::End { .. } => 8,
        };
        if request.whole {
            self.scripts |= script;
        }
        let answer = (self.scripts & script != 0).then(|| self.run(id, &request, configuration));
        let client = self.client(id);
        if request.wanted && client.alive {
            let counts = matches!(answer, Some(Answer::Held { .. }));
            client.link.down.push(Down::Reply(Reply {
                number: request.number,
                kind: request.kind,
                answer: answer.map(plain),
                age: if counts { request.age } else { 0 },
            }));
        }
    }

    fn run(&mut self, id: u8, request: &Request, configuration: &Configuration) -> Answer {
        let name = |number| Owner { client: id, number };
        let owner = name(request.number);
        let command = match request.kind {
            Kind::Acquire { ttl, queue } => Command::Acquire { owner, ttl, queue },
            Kind::Renew { ttl } => Command::Renew { owner, ttl },
            Kind::Release => Command::Release { owner },
            Kind::End { next } => Command::End {
                owner,
                next: next.map(|(number, ttl)| (name(number), ttl)),
            },
        };
        let rules = configuration.rules();
        let now = if self.behind {
            0
        } else {
            self.last + rules.turns
        };
        let counted = |(id, client): (u8, &Client)| u8::from(client.heard) << id;
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
        let step = Step {
            before: &before,
            command,
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
        for owner in run.told {
            let client = self.client(owner.client);
            if client.alive && client.heard {
                client.link.down.push(Down::Push(owner.number));
            }
        }
        run.answer
    }
}

/// An answer without what clients only use to choose when to ask again.
fn plain(answer: Answer) -> Answer {
    match answer {
        Answer::Waiting { .. } => Answer::Waiting { position: 0 },
        answer => answer,
    }
}

/// Who of `client` may rely on the lock and is doing so.
pub(crate) fn inside(client: &Client) -> impl Iterator<Item = (u8, &crate::client::Hold)> {
    client
        .holds()
        .filter(|(_, hold)| hold.body == Body::Inside && hold.deadline > 0)
}

/// The terms of a client under this configuration.
impl Configuration {
    pub(crate) fn terms(&self) -> Terms {
        Terms {
            ttl: self.ttl,
            window: self.window,
            claim: self.claim,
            synchronous: self.synchronous,
            seeded: self.seeded,
        }
    }
}
