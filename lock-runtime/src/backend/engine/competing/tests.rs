//! Explores every answer to every command, at every time. The servers keep the effects of the commands, and the caller
//! may leave at any time.

use std::collections::HashSet;
use std::time::Duration;

use super::*;
use crate::backend::wire::outstanding::{ConnectionId, Outstanding};

const TTL: Duration = Duration::from_secs(10);

/// Nothing here depends on the absolute time.
const NOW: Duration = Duration::from_secs(60);

/// An owner, and the servers' state for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Owner {
    outstanding: Outstanding,
    holds: bool,
    is_queued: bool,
    /// An acquire on the first connection may still be carried out.
    is_in_flight: bool,
}

impl Owned for Owner {
    fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }

    fn outstanding_mut(&mut self) -> &mut Outstanding {
        &mut self.outstanding
    }
}

/// A call, and the servers' state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    competing: Competing<Owner>,
    next: Next,
    /// Successive connections. The last one is open.
    connection: u64,
    is_late: bool,
    began_as_head: bool,
    /// The number of owners created or taken over, minus those given away.
    owners: u8,
    seen: Seen,
}

/// The sender's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Next {
    Attempts,
    AwaitsReplicas { is_fresh: bool },
    ChecksReplicas,
    Listens,
    Waits,
    GivesBack,
    BeginsAnew,
    Wins,
    GivesUp,
}

/// The answers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// An answer reported something about the lock.
    knows: bool,
    /// The last answer named the holder.
    holder: bool,
    is_refused: bool,
    /// An answer in time granted the lock, and enough replicas have it.
    is_granted: bool,
    /// The owner has all locks with a lower index.
    has_those_before: usize,
    /// The owner has lost one of them, or has one out of order.
    has_lost: bool,
}

/// The fate of an acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Granted {
        is_fresh: bool,
        contended: bool,
    },
    Waits {
        lock: usize,
        holds_later: bool,
    },
    /// The server of any of the locks may refuse.
    Refused {
        has_part: bool,
    },
    Unsent,
    Lost {
        is_done: bool,
        reconnects: bool,
    },
}

impl Seen {
    fn granted(&mut self, is_fresh: bool, locks: usize) {
        self.is_granted = is_fresh;
        self.knows |= !is_fresh;
        self.holder &= is_fresh;
        self.has_those_before = locks;
    }
}

impl World {
    fn begin(call: Call, heads_queue: bool, handoff: &Handoff<Owner>, knew: Knows) -> Vec<World> {
        // A caller that does not wait has no time from the start.
        let times: &[bool] = if call.waits { &[false, true] } else { &[true] };
        let begin = |&is_late: &bool| {
            let is_queued = matches!(handoff, Handoff::Queued(_));
            let is_granted = match &handoff {
                Handoff::Granted(_, grant) => grant.at == now() && !call.awaits_replicas,
                _ => false,
            };
            let mut world = World {
                competing: Competing::new(call, heads_queue),
                next: Next::Attempts,
                connection: 1,
                is_late,
                began_as_head: heads_queue,
                owners: u8::from(!matches!(handoff, Handoff::Fresh)),
                seen: Seen {
                    knows: is_queued && is_late && knew != Knows::Nothing,
                    is_refused: is_queued && is_late && knew == Knows::Refused,
                    is_granted,
                    ..Seen::default()
                },
            };
            let competing = &mut world.competing;
            let command = competing.take_over(handoff.clone(), knew, || is_late, now);
            world.then(command);
            world
        };
        times.iter().map(begin).collect()
    }

    /// Every state that may follow.
    fn next(&self) -> Vec<World> {
        let mut next = Vec::new();
        if !self.is_late {
            next.push(self.with(|world| world.is_late = true));
        }
        let mut events = Vec::new();
        let failures = [Event::Unavailable, Event::Refused];
        match self.next {
            Next::Attempts => {
                if self.competing.owner.is_none() {
                    events.push(Event::NoOwner);
                }
                for fate in self.fates() {
                    for is_contended in [false, true] {
                        next.push(self.with(|world| world.attempt(fate, is_contended)));
                    }
                }
            }
            Next::AwaitsReplicas { is_fresh } => {
                events.extend(failures);
                // The lease may end before enough replicas have it.
                events.extend(is_fresh.then_some(Event::HasReplicas));
                next.push(self.with(|world| world.on_after_the_lease(Event::HasReplicas)));
            }
            Next::ChecksReplicas => events.extend([failures[0], failures[1], Event::HasReplicas]),
            Next::Listens => {
                events.extend(failures);
                let missed = Event::MayHaveMissed;
                events.push(if self.is_late {
                    Event::TimeIsUp
                } else {
                    missed
                });
                events.push(Event::Listens);
            }
            Next::Waits if self.is_late => events.push(Event::TimeIsUp),
            Next::Waits => {
                events.push(Event::Due);
                events.extend(self.competing.owner().map(|_| Event::Notified));
            }
            Next::GivesBack | Next::BeginsAnew => next.push(self.with(World::give_back)),
            Next::Wins | Next::GivesUp => {}
        }
        next.extend(
            events
                .into_iter()
                .map(|event| self.with(|world| world.on(event))),
        );
        next
    }

    fn fates(&self) -> Vec<Fate> {
        let mut fates = vec![Fate::Unsent];
        for flag in [false, true] {
            for contended in [false, true] {
                let is_fresh = flag;
                fates.push(Fate::Granted {
                    is_fresh,
                    contended,
                });
            }
            let (is_done, has_another) = (flag, self.connection == 1);
            for reconnects in [false, has_another] {
                fates.push(Fate::Lost {
                    is_done,
                    reconnects,
                });
            }
        }
        // Without a place in the queue, the owner gets all of the locks or none.
        let locks = if self.competing.queues() {
            self.competing.call.locks
        } else {
            1
        };
        for has_part in [false, locks > 1] {
            fates.push(Fate::Refused { has_part });
        }
        for lock in 0..locks {
            for holds_later in [false, lock + 1 < locks] {
                fates.push(Fate::Waits { lock, holds_later });
            }
        }
        fates
    }

    fn with(&self, step: impl FnOnce(&mut World)) -> World {
        let mut world = self.clone();
        step(&mut world);
        world
    }

    fn attempt(&mut self, fate: Fate, is_contended: bool) {
        let call = self.competing.call;
        let queues = self.competing.queues();
        let may_queue = call.waits && (self.began_as_head || call.locks > 1);
        assert_eq!(queues, may_queue, "{self:?}");
        let first = self.competing.first_command(|| is_contended);
        let is_first = !self.seen.knows && self.competing.owner().is_none();
        let takes = call.may_take && is_first && !is_contended;
        assert_eq!(first == FirstCommand::Take, takes, "{self:?}");
        assert!(!self.seen.has_lost, "its locks are out of order: {self:?}");
        let made = &mut self.owners;
        let owner = self.competing.owner_or_try(|| {
            *made += 1;
            Ok::<_, ()>(Owner::default())
        });
        let owner = owner.expect("there is an owner");
        assert!(owner.outstanding.may_ask_for(TTL), "another ttl: {owner:?}");
        let on = ConnectionId(self.connection);
        owner.outstanding.sending(on, TTL, queues);
        if !matches!(fate, Fate::Unsent | Fate::Lost { .. }) && on == ConnectionId(1) {
            // One connection keeps its commands in order.
            owner.is_in_flight = false;
        }
        match fate {
            Fate::Granted {
                is_fresh,
                contended,
            } => {
                owner.outstanding.answered(on);
                owner.holds = true;
                self.on(Event::Granted(grant(is_fresh, contended)));
            }
            Fate::Waits { lock, holds_later } => {
                owner.outstanding.answered(on);
                owner.holds = lock > 0 || holds_later;
                owner.is_queued = queues && call.has_queue;
                self.on(Event::Waiting { lock, holds_later });
            }
            Fate::Refused { has_part } => {
                owner.outstanding.refused(on);
                owner.holds |= has_part;
                self.on(Event::Refused);
            }
            Fate::Unsent => {
                owner.outstanding.unsent(on);
                self.on(Event::Unavailable);
            }
            Fate::Lost {
                is_done,
                reconnects,
            } => {
                owner.holds |= is_done;
                owner.is_in_flight |= !is_done && on == ConnectionId(1);
                self.connection += u64::from(reconnects);
                self.on(Event::Unavailable);
            }
        }
    }

    fn give_back(&mut self) {
        let owner = self.competing.give_back().expect("an owner to end");
        self.given_away(&owner);
        self.seen.has_lost = false;
        self.seen.has_those_before = 0;
        self.on(Event::GivenBack);
    }

    /// Gives an owner away: it is ended, or the next caller inherits it. Either needs to know what the owner may have.
    fn given_away(&mut self, owner: &Owner) {
        let Owner {
            outstanding,
            holds,
            is_queued,
            is_in_flight,
        } = owner;
        let may_hold = *holds || *is_in_flight;
        // An end that was refused is sent again. An owner that has nothing is not ended.
        assert!(!may_hold || outstanding.may_hold(), "it holds: {owner:?}");
        let is_stored = may_hold || *is_queued;
        assert!(!is_stored || outstanding.may_be_stored(), "left: {owner:?}");
        // A later message that names the owner causes another end.
        assert!(
            !is_queued || outstanding.may_be_granted(),
            "queued: {owner:?}"
        );
        self.owners -= 1;
    }

    fn on(&mut self, event: Event) {
        self.see(event);
        let command = self.competing.on(event, now);
        let is_right = match event {
            Event::NoOwner => matches!(command, Command::GiveUp),
            Event::Waiting { .. } if self.competing.call.awaits_replicas => {
                matches!(command, Command::CheckReplicas)
            }
            _ => true,
        };
        assert!(is_right, "{command:?} after {event:?}");
        self.then(command);
    }

    fn on_after_the_lease(&mut self, event: Event) {
        self.next = Next::AwaitsReplicas { is_fresh: false };
        self.see(event);
        let command = self.competing.on(event, || now() + TTL);
        self.then(command);
    }

    fn see(&mut self, event: Event) {
        let call = self.competing.call;
        let seen = &mut self.seen;
        seen.is_granted = false;
        match event {
            Event::Granted(_) if call.awaits_replicas => {}
            Event::Granted(grant) => seen.granted(grant.at == now(), call.locks),
            Event::Waiting { lock, holds_later } => {
                seen.has_lost = lock < seen.has_those_before || holds_later;
                seen.has_those_before = lock;
                (seen.knows, seen.holder) = (true, true);
            }
            Event::Refused => (seen.knows, seen.holder, seen.is_refused) = (true, false, true),
            Event::NoOwner => (seen.knows, seen.holder) = (true, false),
            Event::Unavailable if self.next == Next::Listens => {}
            Event::Unavailable => (seen.knows, seen.holder) = (true, false),
            _ => {
                if let Next::AwaitsReplicas { is_fresh } = self.next {
                    seen.granted(is_fresh, call.locks);
                }
            }
        }
        if call.locks == 1 {
            (seen.has_those_before, seen.has_lost) = (0, false);
        }
    }

    fn then(&mut self, command: Command) {
        let (last, seen) = (self.next, self.seen);
        self.next = match command {
            Command::Attempt => {
                assert!(!self.is_late || !seen.knows, "its time is up: {self:?}");
                Next::Attempts
            }
            Command::AwaitReplicas => {
                let Step::AwaitsReplicas(grant) = self.competing.step else {
                    panic!("no grant: {self:?}");
                };
                let is_fresh = grant.at == now();
                Next::AwaitsReplicas { is_fresh }
            }
            Command::CheckReplicas => Next::ChecksReplicas,
            Command::Listen => {
                assert!(self.is_listener(), "{self:?}");
                Next::Listens
            }
            Command::Wait(pause) => {
                self.check_pause(pause);
                Next::Waits
            }
            Command::GiveBack => {
                assert!(matches!(last, Next::AwaitsReplicas { .. }), "{self:?}");
                Next::GivesBack
            }
            Command::BeginAnew => {
                assert!(seen.has_lost, "{self:?}");
                Next::BeginsAnew
            }
            Command::Win => {
                assert!(seen.is_granted, "not granted: {self:?}");
                Next::Wins
            }
            Command::GiveUp => {
                let is_hopeless = seen.is_refused || self.competing.owner().is_none();
                assert!(seen.knows && (self.is_late || is_hopeless), "{self:?}");
                let holds = matches!(last, Next::AwaitsReplicas { .. });
                assert!(!holds, "it gives nothing back: {self:?}");
                Next::GivesUp
            }
        };
        let gives = matches!(self.next, Next::GivesBack | Next::GivesUp);
        assert!(gives || !seen.is_refused, "it was refused: {self:?}");
        self.check();
    }

    fn is_listener(&self) -> bool {
        !self.competing.call.has_queue && self.competing.queues()
    }

    fn check_pause(&self, pause: Pause) {
        let (last, Seen { holder, .. }) = (self.next, self.seen);
        let is_right = match pause {
            Pause::None => matches!(last, Next::Attempts | Next::AwaitsReplicas { .. }) && !holder,
            Pause::Poll if last == Next::Attempts => holder && !self.is_listener(),
            Pause::Poll => matches!(last, Next::ChecksReplicas | Next::Listens),
            Pause::BackOff => !holder && matches!(last, Next::Attempts | Next::GivesBack),
            Pause::Anew => last == Next::BeginsAnew,
            Pause::Longest => self.competing.owner().is_some_and(|owner| owner.is_queued),
        };
        assert!(is_right, "{pause:?}: {self:?}");
    }

    /// No owner is lost, and the caller may leave.
    fn check(&self) {
        let has_owner = self.competing.owner().is_some();
        assert_eq!(self.owners, u8::from(has_owner), "{self:?}");
        self.with(|world| world.leave(self.began_as_head));
        match self.next {
            Next::Wins => {
                self.with(World::win);
            }
            Next::GivesUp => {
                self.with(|world| world.give_up(false));
                self.with(|world| world.give_up(true));
            }
            _ => {}
        }
    }

    fn win(&mut self) {
        let won = self.competing.win();
        assert!(won.owner.holds, "{self:?}");
        let is_contended = won.grant.answer.contended || self.seen.holder;
        assert_eq!(won.contended, is_contended, "somebody waits: {self:?}");
        self.owners -= 1;
        let is_share = self.competing.call.is_share;
        assert_eq!(won.promotes, self.began_as_head && is_share, "{self:?}");
        assert_eq!(won.heads_queue, self.began_as_head && !is_share, "{self:?}");
        // A lease that heads the queue promotes the next caller later.
        self.leave(false);
    }

    fn give_up(&mut self, has_next: bool) {
        let ended = self.competing.give_up(|| has_next);
        let is_awaited = ended.is_some();
        ended.iter().for_each(|owner| self.given_away(owner));
        let may_inherit = self.began_as_head && !self.competing.call.is_share;
        let has_heir = has_next && may_inherit && !self.seen.is_refused;
        assert!(
            !is_awaited || !has_heir,
            "the next caller could have it: {self:?}"
        );
        self.leave(self.began_as_head);
    }

    /// The caller is gone: its owner is ended or inherited, and a head promotes the next caller exactly once.
    fn leave(&mut self, heads_queue: bool) {
        let Left { ends, promotes } = self.competing.leave();
        ends.iter().for_each(|owner| self.given_away(owner));
        assert_eq!(promotes.is_some(), heads_queue, "{self:?}");
        match promotes {
            Some(Handoff::Queued(owner)) => {
                assert!(!self.competing.call.is_share, "another share: {self:?}");
                assert!(!self.seen.is_refused, "{self:?}");
                assert!(owner.outstanding.may_be_stored(), "{self:?}");
                self.given_away(&owner);
            }
            Some(Handoff::Fresh) | None => {}
            Some(handoff) => panic!("a handoff that cannot be: {handoff:?}"),
        }
        assert_eq!(self.owners, 0, "lost: {self:?}");
        let again = self.competing.leave();
        assert!(again.ends.is_none() && again.promotes.is_none(), "{self:?}");
    }
}

fn now() -> Moment {
    Moment::FIRST + NOW
}

/// Returns a grant whose command was sent just now, or longer ago than its lease lasts.
fn grant(is_fresh: bool, contended: bool) -> Answered<Grant> {
    let at = if is_fresh { now() } else { Moment::FIRST };
    let token = FencingToken::absent(7);
    let answer = Grant { contended, token };
    Answered { at, answer }
}

fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for flags in 0..64 {
        let is = |flag| flags & flag != 0;
        let locks = if is(1) { 2 } else { 1 };
        let call = Call {
            locks,
            ttl: TTL,
            waits: is(2),
            is_share: is(4),
            may_take: is(8),
            has_queue: !is(16),
            awaits_replicas: is(32),
        };
        let is_alone = locks == 1 && !call.is_share && call.waits && !call.awaits_replicas;
        if (is_alone || !call.may_take) && !(call.is_share && locks > 1) {
            calls.push(call);
        }
    }
    calls
}

/// Returns the handoffs that a head may take over, and what the last head knew.
fn handoffs() -> Vec<(Handoff<Owner>, Knows)> {
    let on = ConnectionId(1);
    let mut holds = Owner {
        holds: true,
        is_queued: true,
        ..Owner::default()
    };
    holds.outstanding.sending(on, TTL, true);
    holds.outstanding.answered(on);
    holds.outstanding.note_queued();
    let mut queued = Owner {
        holds: false,
        ..holds.clone()
    };
    queued.outstanding.note_not_held();
    let mut handoffs = vec![
        (Handoff::Fresh, Knows::Nothing),
        (Handoff::Confirmed(queued.clone()), Knows::OneOfUs),
    ];
    for is_fresh in [false, true] {
        let granted = Handoff::Granted(holds.clone(), grant(is_fresh, false));
        handoffs.push((granted, Knows::Nothing));
    }
    for knew in [
        Knows::Nothing,
        Knows::Holder,
        Knows::OneOfUs,
        Knows::Failed,
        Knows::Refused,
    ] {
        handoffs.push((Handoff::Queued(queued.clone()), knew));
        handoffs.push((Handoff::Queued(holds.clone()), knew));
    }
    handoffs
}

#[test]
fn call_wins_its_grant_or_ends_and_promotes_once() {
    let mut known = HashSet::new();
    for call in calls() {
        for heads_queue in [false, true] {
            // Callers of several locks are in no local queue. Nor are callers of one lock that do not wait.
            let is_beside = call.locks > 1 || !call.waits;
            if heads_queue && call.locks > 1 || !heads_queue && !is_beside {
                continue;
            }
            for (handoff, knew) in handoffs() {
                // Nobody takes over a share's owner, and only a head that waited leaves an owner to take over.
                let may_take_over = heads_queue && call.waits && !call.is_share;
                if may_take_over || matches!(handoff, Handoff::Fresh) {
                    for world in World::begin(call, heads_queue, &handoff, knew) {
                        explore(&mut known, world);
                    }
                }
            }
        }
    }
    assert!(known.len() > 10_000, "{}", known.len());
}

/// Visits every state that can follow and was not visited before.
fn explore(known: &mut HashSet<World>, begin: World) {
    known.insert(begin.clone());
    let mut open = vec![begin];
    while let Some(world) = open.pop() {
        for next in world.next() {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
}

#[test]
fn owner_is_taken_over_by_a_caller_of_its_ttl() {
    let mut owner = Owner::default();
    owner.outstanding.sending(ConnectionId(1), TTL, true);
    let handoffs = [
        Handoff::Queued(owner.clone()),
        Handoff::Confirmed(owner.clone()),
        Handoff::Granted(owner, grant(true, false)),
    ];
    for handoff in handoffs {
        for (ttl, fits) in [(TTL, true), (TTL * 2, false)] {
            let call = Call { ttl, ..calls()[0] };
            let competing = Competing::new(call, true);
            assert_eq!(competing.fits(&handoff), fits, "{handoff:?}");
        }
    }
    assert!(Competing::<Owner>::new(calls()[0], true).fits(&Handoff::Fresh));
}
