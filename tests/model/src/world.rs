//! The whole state, and how each step changes it.

use std::iter;

use crate::audit::{Breach, Breaches};
use crate::client::{Body, Client, Lease, Owner};
use crate::conduct::{Awaited, Verdict};
use crate::configuration::Configuration;
use crate::faults::{Budget, Fault};
use crate::moves::{Replica, Source};
use crate::server::{Key, Mode, OwnerId, QueueEntry, Records, Ticks, Token};

/// The whole state: server, connections and clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) records: Records,
    /// The records of the locks that calls take together with the first.
    pub(crate) beside: Vec<Records>,
    /// One bit for each script that the server knows.
    pub(crate) scripts: u16,
    pub(crate) mode: Mode,
    /// The server's clock is behind the last token.
    pub(crate) behind: bool,
    /// The highest token that was ever granted.
    pub(crate) last: Token,
    /// The time of the last grant, which has this token, or a later one, or none.
    pub(crate) clock: Token,
    /// The highest token under which a body began.
    pub(crate) highest: Token,
    /// The highest token under which a body began with the lock alone.
    pub(crate) highest_alone: Token,
    /// A holder lost the lock, and no waiter has polled since. Counted where locks are taken
    /// without a script.
    pub(crate) lapsed: bool,
    /// The first live owner in the queue, and for each client how many bodies began there while the
    /// owner waited.
    pub(crate) waiting_head: Option<(OwnerId, Vec<u8>)>,
    /// How long a reserved lock must stay taken.
    pub(crate) minimum: Ticks,
    pub(crate) replica: Option<Replica>,
    /// The server that the lock leaves. `records` belong to the target, or to both servers of a
    /// moving slot.
    pub(crate) source: Option<Source>,
    /// The highest token that the present server knows of; `None` is the highest of all.
    pub(crate) known: Option<Token>,
    /// The longest remaining life of a record that a failover restored.
    pub(crate) brought_back: Ticks,
    pub(crate) clients: Vec<Client>,
    pub(crate) budget: Budget,
    pub(crate) breaches: Breaches,
}

/// A step. The first number is a client, the second an owner of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Tick,
    /// A caller comes.
    Arrive(u8),
    /// A caller comes that shares the lock.
    ArriveToShare(u8),
    /// A waiter asks for the lock.
    Poll(u8, u8),
    /// The lock is handed over and the body runs.
    Start(u8, u8),
    /// The body is over.
    Finish(u8, u8),
    /// The client notices that the deadline has passed.
    Lose(u8, u8),
    /// The retention of a lease is over.
    EndRetained(u8, u8),
    /// The lease is renewed to this length.
    Renew(u8, u8, Ticks),
    /// A body asks for the token that its lease lacks.
    Mint(u8, u8),
    /// The lock becomes a share.
    Downgrade(u8, u8),
    /// A lease is confirmed, since the next server may lack it.
    Confirm(u8, u8),
    /// An owner is ended once more.
    EndAgain(u8, u8),
    /// A client reads the next message.
    Receive(u8),
    /// The server carries out a client's next command.
    Deliver(u8),
    /// The server carries out a command of a connection that was torn down.
    DeliverStray(u8),
    /// The server notices that a client has ended.
    Notice(u8),
    /// A caller's wait is over, or its future is dropped.
    GiveUp(u8, u8),
    /// The first caller behind the head of its local queue gives up.
    GiveUpBehindHead(u8),
    /// A command of an owner is not answered in time.
    TimeOut(u8, u8),
    LoseRequest(u8),
    /// The next message to a client is lost.
    LoseIncoming(u8),
    /// The server carries out a command that also stays in flight.
    Double(u8),
    /// A fault that concerns one client.
    ClientFault(Fault, u8),
    /// A fault that concerns the server.
    ServerFault(Fault),
    Impair(Mode),
    Repair,
    /// A key of a slot that is being moved arrives at the target.
    MoveKey(Key),
    /// The slot has moved.
    SettleSlot,
    /// A client notices that another server has taken over.
    NoticeTakeover(u8),
}

impl World {
    pub(crate) fn new(configuration: &Configuration) -> World {
        World {
            records: Records::default(),
            beside: vec![Records::default(); configuration.beside()],
            scripts: if configuration.budget.allows(Fault::Flush) {
                0
            } else {
                u16::MAX
            },
            mode: Mode::Normal,
            // Where calls take several locks, tokens continue from the fences of each.
            behind: configuration.beside() > 0,
            last: 0,
            clock: 0,
            highest: 0,
            highest_alone: 0,
            lapsed: false,
            waiting_head: None,
            minimum: 0,
            replica: None,
            source: None,
            known: None,
            brought_back: 0,
            clients: configuration
                .calls
                .iter()
                .zip(
                    configuration
                        .shares
                        .iter()
                        .map(Vec::as_slice)
                        .chain(iter::repeat(&[][..])),
                )
                .enumerate()
                .map(|(id, (&calls, shares))| Client::new(calls, shares, configuration.order(id)))
                .collect(),
            budget: configuration.budget,
            breaches: Breaches::default(),
        }
    }

    pub(crate) fn step(&mut self, action: Action, configuration: &Configuration) {
        let rules = configuration;
        let was_held = self.records.lock.is_some();
        let verdict = match action {
            Action::Tick => {
                self.tick(configuration);
                Ok(())
            }
            Action::Arrive(id) => self.client(id).arrive(rules),
            Action::ArriveToShare(id) => self.client(id).arrive_to_share(rules),
            Action::Poll(id, number) => self.on(id, number, |c, i| c.poll(i, rules)),
            Action::Start(id, number) => {
                if configuration.has_shares() {
                    self.note_token(id, number);
                } else if configuration.local_turns.is_some() || configuration.takes {
                    self.note_body(id, number);
                }
                self.on(id, number, |client, index| {
                    client.start(index);
                    Ok(())
                })
            }
            Action::Finish(id, number) => {
                self.on(id, number, |c, i| c.release(i, Awaited::Yes, rules))
            }
            Action::EndRetained(id, number) => {
                self.on(id, number, |c, i| c.release(i, Awaited::No, rules))
            }
            Action::Lose(id, number) => self.on(id, number, |c, i| c.lose(i, rules)),
            Action::Renew(id, number, ttl) => {
                self.budget.spend(Fault::Renew);
                self.on(id, number, |c, i| c.renew(i, ttl))
            }
            Action::Downgrade(id, number) => {
                if self.budget.allows(Fault::Downgrade) {
                    self.budget.spend(Fault::Downgrade);
                }
                self.on(id, number, |c, i| c.downgrade(i, rules))
            }
            Action::EndAgain(id, number) => self.on(id, number, |c, i| c.end_again(i, rules)),
            Action::Mint(id, number) => {
                self.budget.spend(Fault::Mint);
                self.on(id, number, |c, i| c.mint(i))
            }
            Action::Receive(id) if configuration.takes => self.receive_token(id, rules),
            Action::Receive(id) if !configuration.together.is_empty() => {
                self.receive_in_order(id, configuration)
            }
            Action::Receive(id) => self.client(id).receive(rules),
            Action::Deliver(id) => {
                let request = self.client(id).connection.up.remove(0);
                self.deliver(id, request, configuration);
                Ok(())
            }
            Action::Confirm(id, number) => self.on(id, number, |c, i| {
                let ttl = c.owners[i].ttl;
                c.renew(i, ttl)
            }),
            Action::MoveKey(key) => {
                self.move_key(key, configuration);
                Ok(())
            }
            Action::SettleSlot => {
                self.settle_slot(configuration);
                Ok(())
            }
            Action::NoticeTakeover(id) => self.client(id).notice_takeover(rules),
            Action::DeliverStray(id) => {
                let (request, _) = self.client(id).connection.stray.remove(0);
                self.deliver(id, request, configuration);
                Ok(())
            }
            Action::Notice(id) => {
                self.client(id).subscribed = false;
                Ok(())
            }
            fault => self.fault(fault, configuration),
        };
        self.note(verdict);
        if configuration.takes {
            self.note_lapse(action, was_held);
        }
        self.note_head(configuration);
        self.forget_source();
    }

    fn note(&mut self, verdict: Verdict) {
        if let Err(breach) = verdict {
            self.breaches.add(breach);
        }
    }

    /// Checks a body that begins: its token, and the waiting head that it overtook.
    fn note_body(&mut self, id: u8, number: u8) {
        let client = &self.clients[usize::from(id)];
        let mut leases = client.leases();
        let found = leases.find(|&(of, _)| of == number);
        let token = found.expect("it is held").1.token;
        drop(leases);
        self.note_highest(token);
        if let Some((head, bodies)) = &mut self.waiting_head
            && head.client != id
        {
            bodies[usize::from(id)] += 1;
        }
    }

    /// Checks the token of a body. A body without a token is not compared.
    fn note_highest(&mut self, token: Token) {
        if token > 0 && token <= self.highest {
            self.breaches.add(Breach::TurnToken);
        }
        self.highest = self.highest.max(token);
    }

    /// A client reads a message that may give a running body its token.
    fn receive_token(&mut self, id: u8, rules: &Configuration) -> Verdict {
        let tokens = |client: &Client| -> Vec<(u8, Token)> {
            let inside = inside(client).map(|(owner, lease)| (owner.number, lease.token));
            inside.collect()
        };
        let before = tokens(&self.clients[usize::from(id)]);
        let verdict = self.client(id).receive(rules);
        for (owner, token) in tokens(&self.clients[usize::from(id)]) {
            if before.contains(&(owner, 0)) && token > 0 {
                self.note_highest(token);
            }
        }
        verdict
    }

    /// Notes that the holder lost the lock, until the queue is in order again.
    fn note_lapse(&mut self, action: Action, was_held: bool) {
        let by_command = matches!(
            action,
            Action::Deliver(_) | Action::DeliverStray(_) | Action::Double(_)
        );
        self.lapsed |= was_held && self.records.lock.is_none() && !by_command;
        let mut entries = self.records.queue.entries().iter();
        if self.records.is_flagged() || !entries.any(QueueEntry::is_live) {
            self.lapsed = false;
        }
        // The next caller may then retake the lock, with all the turns of a grant.
        if self.lapsed
            && let Some((_, bodies)) = &mut self.waiting_head
        {
            bodies.fill(0);
        }
    }

    /// Checks the token of a body that begins where calls share the lock. A share's token is above
    /// those of all earlier locks and not below those of other shares; a lock's token is above all.
    fn note_token(&mut self, id: u8, number: u8) {
        let client = &self.clients[usize::from(id)];
        let owner = &client.owners[client.find(number).expect("it is held")];
        let token = owner.lease().expect("it is held").token;
        let is_alone = owner.share.is_none();
        let last = if is_alone {
            self.highest
        } else {
            self.highest_alone
        };
        if token <= last || token < self.highest {
            self.breaches.add(Breach::PhaseToken);
        }
        self.highest = self.highest.max(token);
        if is_alone {
            self.highest_alone = self.highest_alone.max(token);
        }
    }

    /// Updates the waiting head of the queue, and checks how often each process overtook it.
    ///
    /// While the first owner in the queue counts as dead, nobody is overtaken: it keeps its place
    /// if it polls again. While the lock moves, messages do not reach every waiter.
    fn note_head(&mut self, configuration: &Configuration) {
        if configuration.local_turns.is_none() {
            return;
        }
        let is_live = |owner: OwnerId| {
            let client = &self.clients[usize::from(owner.client)];
            client.alive && client.subscribed
        };
        let first = self.records.queue.entries().first();
        let first = first.filter(|_| self.source.is_none());
        let head = first.filter(|entry| entry.is_live() && is_live(entry.owner));
        let head = head.map(|entry| entry.owner);
        if head != self.waiting_head.as_ref().map(|&(owner, _)| owner) {
            self.waiting_head = head.map(|owner| (owner, vec![0; self.clients.len()]));
        }
        if let Some((_, bodies)) = &self.waiting_head
            && bodies
                .iter()
                .any(|&bodies| Token::from(bodies) > configuration.turns)
        {
            self.breaches.add(Breach::Bypassed);
        }
    }

    /// The records of each lock.
    pub(crate) fn locks(&self) -> impl Iterator<Item = &Records> {
        [&self.records].into_iter().chain(&self.beside)
    }

    /// The records of the locks of a client's calls, in order.
    pub(crate) fn locks_of(&self, client: u8) -> impl Iterator<Item = &Records> {
        let locks = self.clients[usize::from(client)].locks().iter();
        locks.map(|&lock| match usize::from(lock).checked_sub(1) {
            None => &self.records,
            Some(lock) => &self.beside[lock],
        })
    }

    pub(crate) fn client(&mut self, id: u8) -> &mut Client {
        &mut self.clients[usize::from(id)]
    }

    pub(crate) fn on(
        &mut self,
        id: u8,
        number: u8,
        act: impl FnOnce(&mut Client, usize) -> Verdict,
    ) -> Verdict {
        let client = self.client(id);
        let index = client.find(number).expect("the action names an owner");
        act(client, index)
    }

    fn tick(&mut self, configuration: &Configuration) {
        let replica = self.replica.as_mut().map(|replica| &mut replica.records);
        let present = [&mut self.records].into_iter().chain(&mut self.beside);
        for records in replica.into_iter().chain(present) {
            records.advance(1);
            records.forget_since_when();
        }
        self.tick_source();
        self.minimum = (self.minimum - 1).max(0);
        let oldest = configuration.longest().max(configuration.delay);
        let of_turns = configuration.turns_in_time();
        for client in &mut self.clients {
            client.tick(oldest, &of_turns);
        }
    }
}

/// The owners and leases of `client` under which a body runs within its deadline.
pub(crate) fn inside(client: &Client) -> impl Iterator<Item = (&Owner, &Lease)> {
    let leases = client
        .owners
        .iter()
        .filter_map(|owner| Some((owner, owner.lease()?)));
    leases.filter(|(_, lease)| lease.body == Body::Inside && lease.deadline > 0)
}
