//! Explores every answer to every command, at every time. The server keeps the effects of the commands.

use std::collections::HashSet;

use super::*;
use crate::backend::wire::outstanding::ConnectionId;
use crate::lease::fencing_token::FencingToken;

/// The ttl of every owner. No command is in flight for longer.
const TTL: u64 = 10_000;

/// How long the caller of a release waits.
const PATIENCE: u64 = 1_000;

/// The longest wait for a command.
const COMMAND_TIMEOUT: u64 = 2_000;

/// Pauses are rounded up to a multiple of this, so that states coincide and stay few. It divides the ttl.
const TICK: u64 = 2_500;

/// An end, and the server's state. Times are in milliseconds from the time when the first command was due.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    ending: Ending,
    owner: Outstanding,
    now: u64,
    /// Successive connections. The last one is open.
    connection: u64,
    server: Server,
    /// The connection of an acquire that is still in flight.
    acquire: Option<u64>,
    next: Next,
    reserved_until: Option<u64>,
    done: Done,
    debts: Debts,
}

/// A state without the owner's commands, and five facts about these. No acquire is sent any longer, so the future depends
/// on nothing else.
type Key = (World, [bool; 5]);

const NO_DEBTS: Debts = Debts {
    head: false,
    report: false,
};

/// The server's state for the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Server {
    Nothing,
    Queues,
    /// Since before its end, or because of a late acquire.
    Holds {
        until: u64,
        is_late: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Next {
    Sends(SentCommand),
    Waits { until: u64 },
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SentCommand {
    Release,
    End { names: bool },
    Reserve,
}

/// The effects so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Done {
    /// A command found that the owner held the lock, and ended that.
    had_the_lock: bool,
    /// The lock is reserved.
    reserves: bool,
    promoted: u8,
    reported: u8,
    /// The last command was refused.
    is_refused: bool,
    /// A command was answered, and left the owner without the lock.
    is_answered: bool,
    /// The server has confirmed that the lock is reserved.
    reserve_answered: bool,
}

/// The fate of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The command is carried out and answered.
    Answered {
        is_contended: bool,
    },
    Refused,
    Unsent,
    Lost,
    /// The command is carried out, and the answer is lost.
    Unanswered {
        is_contended: bool,
    },
}

const FATES: [Fate; 7] = [
    Fate::Answered {
        is_contended: false,
    },
    Fate::Answered { is_contended: true },
    Fate::Refused,
    Fate::Unsent,
    Fate::Lost,
    Fate::Unanswered {
        is_contended: false,
    },
    Fate::Unanswered { is_contended: true },
];

impl World {
    fn begin(mut ending: Ending, owner: Outstanding, server: Server, acquire: Option<u64>) -> Self {
        let debts = ending.owes;
        let reserved_until = ending.reserved_until.map(|until| until.since(at(0)));
        let command = ending.command(|| at(0));
        World {
            ending,
            owner,
            now: 0,
            connection: 2,
            server,
            acquire,
            next: Next::Sends(command.into()),
            reserved_until: reserved_until.map(|time| u64::try_from(time.as_millis()).unwrap()),
            done: Done::default(),
            debts,
        }
    }

    /// Returns the part of the state that decides the future.
    fn key(&self) -> Key {
        let mut state = World {
            owner: Outstanding::default(),
            ..self.clone()
        };
        if let Phase::Settling { .. } | Phase::Over = self.ending.phase {
            state.done = Done {
                had_the_lock: false,
                reserves: false,
                promoted: 0,
                reported: 0,
                ..self.done
            };
            (state.debts, state.reserved_until) = (NO_DEBTS, None);
        }
        let owner = &self.owner;
        let facts = [
            owner.may_have_ended(),
            owner.is_tainted(),
            owner.may_hold(),
            owner.may_arrive(),
            self.reserved_until.is_some(),
        ];
        (state, facts)
    }

    /// Every state that may follow.
    fn next(&self) -> Vec<World> {
        let mut next = Vec::new();
        if self.acquire.is_some() && self.now < TTL {
            next.push(self.with(World::acquire_arrives));
        }
        match self.next {
            Next::Sends(command) => {
                for fate in FATES {
                    for time in [0, COMMAND_TIMEOUT] {
                        next.push(self.with(|world| world.send(command, fate, time)));
                    }
                    let is_lost = matches!(fate, Fate::Lost | Fate::Unanswered { .. });
                    if is_lost && self.connection == 2 {
                        next.push(self.with(|world| {
                            world.send(command, fate, 0);
                            world.connection += 1;
                        }));
                    }
                }
            }
            Next::Waits { until } => next.push(self.with(|world| world.wake(until))),
            Next::Over => {}
        }
        next
    }

    fn with(&self, step: impl FnOnce(&mut World)) -> World {
        let mut world = self.clone();
        step(&mut world);
        world
    }

    /// Lets time pass. The lease may expire.
    fn pass(&mut self, now: u64) {
        self.now = now;
        if let Server::Holds { until, .. } = self.server
            && until <= now
        {
            self.server = Server::Nothing;
        }
    }

    fn acquire_arrives(&mut self) {
        self.acquire = None;
        let (until, is_late) = (self.now + TTL, true);
        self.server = Server::Holds { until, is_late };
    }

    fn wake(&mut self, now: u64) {
        self.pass(now);
        let command = self.ending.command(|| at(now));
        self.next = Next::Sends(command.into());
    }

    fn send(&mut self, command: SentCommand, fate: Fate, time: u64) {
        let is_reserve = command == SentCommand::Reserve;
        assert!(!is_reserve || !self.done.reserve_answered, "{self:?}");
        let on = ConnectionId(self.connection);
        self.owner.ending(on);
        let answer = match fate {
            Fate::Answered { is_contended } | Fate::Unanswered { is_contended } => {
                Some(self.carry_out(command, is_contended))
            }
            Fate::Refused | Fate::Unsent | Fate::Lost => None,
        };
        self.pass(self.now + time);
        let event = match (fate, answer) {
            (Fate::Answered { .. }, Some(answer)) => Event::Answered(answer),
            (Fate::Refused, _) => Event::Refused,
            _ => Event::Unavailable,
        };
        if !matches!(fate, Fate::Lost | Fate::Unanswered { .. }) {
            self.owner.ending_is_known();
        }
        self.done.is_refused = event == Event::Refused;
        self.done.is_answered |= match event {
            Event::Answered(answer) => answer != EndReply::Contended,
            Event::Refused => !self.owner.may_hold(),
            Event::Unavailable => false,
        };
        self.done.reserve_answered |= is_reserve && matches!(event, Event::Answered(_));
        self.react(event);
    }

    /// Carries a command out on the server, and returns its answer.
    fn carry_out(&mut self, command: SentCommand, is_contended: bool) -> EndReply {
        if self.acquire == Some(self.connection) {
            // One connection keeps its commands in order.
            self.acquire_arrives();
        }
        if command == SentCommand::Release && is_contended {
            return EndReply::Contended;
        }
        match std::mem::replace(&mut self.server, Server::Nothing) {
            Server::Nothing => EndReply::NotOurs,
            Server::Queues => EndReply::LeftQueue,
            Server::Holds { is_late, .. } => {
                self.done.had_the_lock = true;
                let is_reserve = command == SentCommand::Reserve;
                self.done.reserves |= is_reserve;
                let reserves = self
                    .reserved_until
                    .is_some_and(|until| self.now + 1 < until);
                assert!(is_reserve || is_late || !reserves, "too early: {self:?}");
                match command {
                    SentCommand::Reserve => EndReply::Reserved,
                    SentCommand::End { .. } if is_contended => EndReply::HandedOff,
                    SentCommand::End { names: true } => EndReply::SuccessorHolds(GRANT),
                    SentCommand::Release | SentCommand::End { names: false } => EndReply::Freed,
                }
            }
        }
    }

    fn react(&mut self, event: Event) {
        if self.debts.report && self.now >= PATIENCE {
            let late = self.ending.late();
            self.told(late, event);
        }
        let now = self.now;
        let reaction = self.ending.on(event, &self.owner, || at(now), || 0.5);
        self.promoted(reaction.promotes, event);
        self.told(reaction.reports, event);
        self.next = match reaction.then {
            Then::Send(command) => Next::Sends(command.into()),
            Then::BackOff(failures) => {
                assert!(failures > 0 && now < PATIENCE, "{self:?}");
                let until = (now + 500).min(PATIENCE);
                Next::Waits { until }
            }
            Then::Pause(pause) => {
                let pause = u64::try_from(pause.as_millis()).unwrap();
                assert!(pause > 0, "{self:?}");
                let until = (now + pause).next_multiple_of(TICK);
                Next::Waits { until }
            }
            // Nobody plays a server that is frozen for longer.
            Then::Keep | Then::Over => Next::Over,
        };
        if matches!(reaction.then, Then::Pause(_) | Then::Keep | Then::Over) {
            self.check_debts();
        }
        // An answered end after `TTL` is the last one.
        if self.next != Next::Over && (self.done.is_answered || now < TTL) {
            let is_awaited = self.ending.is_awaited();
            assert_ne!(is_awaited, self.done.is_answered, "{self:?}");
        }
        if self.next == Next::Over {
            self.check_over();
        }
    }

    fn promoted(&mut self, head: Option<Head>, event: Event) {
        let Some(head) = head else { return };
        self.done.promoted += 1;
        let is_granted = matches!(event, Event::Answered(EndReply::SuccessorHolds(_)));
        assert_eq!(head == Head::Granted(GRANT), is_granted, "{self:?}");
        let is_confirmed = event == Event::Answered(EndReply::HandedOff);
        assert!(head != Head::Confirmed || is_confirmed, "{self:?}");
    }

    fn told(&mut self, report: Option<Report>, event: Event) {
        let Some(report) = report else { return };
        self.done.reported += 1;
        let Done {
            had_the_lock,
            reserves,
            ..
        } = self.done;
        match report {
            Report::Freed => assert!(had_the_lock, "{self:?}"),
            Report::Reserved => assert!(reserves, "{self:?}"),
            Report::NotOurs => assert!(!had_the_lock, "{self:?}"),
            Report::Unconfirmed => {
                let is_clear = matches!(event, Event::Answered(_)) && !self.owner.may_have_ended();
                assert!(!is_clear || self.now >= PATIENCE, "{self:?}");
            }
        }
    }

    /// The first end is over, so nobody waits for anything any longer.
    fn check_debts(&self) {
        let Debts { head, report } = self.debts;
        assert_eq!(self.done.promoted, u8::from(head), "{self:?}");
        assert_eq!(self.done.reported, u8::from(report), "{self:?}");
    }

    fn check_over(&self) {
        assert!(!self.ending.is_awaited(), "{self:?}");
        let may_come = self.acquire.is_some() && self.now < TTL;
        let is_settled = match self.server {
            Server::Nothing => true,
            // The place in the queue expires soon.
            Server::Queues => self.done.is_refused || self.now >= TTL,
            Server::Holds { .. } => false,
        };
        assert!(is_settled && !may_come, "left: {self:?}");
    }

    /// If the task is dropped here, the next caller is promoted, and the end continues.
    fn check_dropped(&self) {
        let mut dropped = self.clone();
        dropped.now = dropped.now.max(PATIENCE);
        dropped.react(Event::Unavailable);
        assert!(matches!(dropped.next, Next::Waits { .. } | Next::Over));
    }
}

const GRANT: Grant = Grant {
    contended: false,
    token: FencingToken::absent(7),
};

impl From<Command> for SentCommand {
    fn from(command: Command) -> SentCommand {
        match command {
            Command::Release => SentCommand::Release,
            Command::End => SentCommand::End { names: false },
            Command::EndForSuccessor => SentCommand::End { names: true },
            Command::Reserve(_) => SentCommand::Reserve,
        }
    }
}

fn at(ms: u64) -> Moment {
    Moment::FIRST + Duration::from_millis(ms)
}

/// Visits every state that can follow and was not visited before.
fn explore(known: &mut HashSet<Key>, begin: World) {
    known.insert(begin.key());
    let mut open = vec![begin];
    while let Some(world) = open.pop() {
        if world.next != Next::Over {
            world.check_dropped();
        }
        for next in world.next() {
            if known.insert(next.key()) {
                open.push(next);
            }
        }
    }
}

/// An owner whose last acquire was answered on the open connection.
fn answered() -> Outstanding {
    let mut owner = Outstanding::default();
    owner.sending(ConnectionId(2), Duration::from_millis(TTL), true);
    owner.answered(ConnectionId(2));
    owner
}

/// The same owner, after an acquire on an earlier connection that may still arrive.
fn tainted() -> Outstanding {
    let mut owner = Outstanding::default();
    owner.sending(ConnectionId(1), Duration::from_millis(TTL), true);
    owner.sending(ConnectionId(2), Duration::from_millis(TTL), true);
    owner.answered(ConnectionId(2));
    owner
}

#[test]
fn holder_is_ended_for_good_promotes_once_and_reports_the_outcome() {
    let mut known = HashSet::new();
    for is_contended in [false, true] {
        for heads_queue in [false, true] {
            for reservation in [None, Some(3_000)] {
                for left in [300, TTL] {
                    for (owner, acquire) in [(answered(), None), (tainted(), Some(1))] {
                        let ending =
                            Ending::of_holder(is_contended, heads_queue, reservation.map(at));
                        let server = Server::Holds {
                            until: left,
                            is_late: false,
                        };
                        if ending.may_name_successor(Mode::Exclusive) {
                            let mut ending = ending;
                            ending.name_successor();
                            explore(
                                &mut known,
                                World::begin(ending, owner.clone(), server, acquire),
                            );
                        }
                        explore(&mut known, World::begin(ending, owner, server, acquire));
                    }
                }
            }
        }
    }
}

#[test]
fn owner_that_is_given_up_is_ended_until_nothing_of_it_can_be_left() {
    let waits = {
        let mut owner = answered();
        owner.note_not_held();
        owner
    };
    let unanswered = |on| {
        let mut owner = Outstanding::default();
        owner.sending(ConnectionId(on), Duration::from_millis(TTL), true);
        owner
    };
    let holds = Server::Holds {
        until: TTL,
        is_late: false,
    };
    let begun = [
        (waits, Server::Queues, None),
        (answered(), holds, None),
        (tainted(), Server::Queues, Some(1)),
        (unanswered(2), Server::Nothing, Some(2)),
        (unanswered(1), Server::Nothing, Some(1)),
        (unanswered(1), Server::Queues, Some(1)),
    ];
    let mut known = HashSet::new();
    for (owner, server, acquire) in begun {
        let ending = Ending::of_owner(&owner).expect("something may be stored");
        explore(
            &mut known,
            World::begin(ending, owner.clone(), server, acquire),
        );
        if server != Server::Queues {
            let ending = Ending::of_node(false);
            explore(&mut known, World::begin(ending, owner, server, acquire));
        }
    }
    assert_eq!(Ending::of_owner(&Outstanding::default()), None);
}

/// A server is frozen for longer than commands are known to arrive, and answers no end.
#[test]
fn owner_whose_ends_are_never_answered_is_kept_if_an_acquire_may_arrive() {
    use crate::backend::wire::outstanding::ConnectionId;
    use std::time::Duration;

    for may_arrive in [true, false] {
        let (first, ttl) = (ConnectionId(1), Duration::from_secs(10));
        let mut owner = Outstanding::default();
        owner.sending(first, ttl, false);
        if !may_arrive {
            owner.answered(first);
        }
        let mut ending = Ending::of_owner(&owner).expect("it may hold the lock");
        let mut now = Moment::FIRST;
        let end = |ending: &mut Ending, now: Moment, event| {
            ending.command(|| now);
            ending.on(event, &owner, || now, || 0.5).then
        };
        let last = loop {
            match end(&mut ending, now, Event::Unavailable) {
                Then::Pause(pause) => now = now + pause,
                then => break then,
            }
        };
        if !may_arrive {
            assert_eq!(last, Then::Over);
            continue;
        }
        assert_eq!(last, Then::Keep);
        assert!(!ending.is_awaited(), "no shutdown waits for it");
        now = now + Duration::from_secs(3_600);
        assert_eq!(end(&mut ending, now, Event::Unavailable), Then::Keep);
        let answered = Event::Answered(EndReply::NotOurs);
        assert_eq!(end(&mut ending, now, answered), Then::Over);
    }
}
