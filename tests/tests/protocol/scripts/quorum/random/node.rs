//! A node and its model, side by side. A tick of the model is a millisecond, and a token a microsecond.

use std::time::Duration;

use harness::ScriptServer;
use lock_model::quorum::records::{Entry, Owner, Records, Ticks, Token};
use lock_model::quorum::scripts::{Answer, Command, Rules, run};

use super::super::node::Node;
use crate::scripts::random::records::COUNTED_ON_MS;
use crate::scripts::random::stage::agree;

/// Owners by their numbers, in the order of their entries.
const OWNERS: &str = "ABCDEF";

/// The restart delay of a node that may lose data in ms, and the same with the margin for a client's clock.
const DELAY: (i64, Ticks) = (10_000, 10_102);

/// How long a queue outlives its last poll.
const QUEUE: Ticks = 7_000;

/// Leases, claims and heartbeats last for multiples of this.
pub(super) const HALF_SECOND: Ticks = 500;

pub(super) struct Modelled<'a> {
    server: &'a dyn ScriptServer,
    pub(super) node: Node,
    pub(super) rules: Rules,
    pub(super) now: Ticks,
    pub(super) boot: u8,
    /// The number in the name of the newest count.
    pub(super) counts: u8,
    pub(super) records: Records,
    /// Entries that are dead and still on the server. The model drops these at once.
    pub(super) dead: Vec<Entry>,
    /// When the whole queue has expired. This matters if the clock was set back.
    pub(super) queue_until: Ticks,
    /// The owners that the last command notified. A connection has one place for the messages of a node.
    pub(super) pushed: Vec<char>,
}

impl Modelled<'_> {
    /// A node without records, at the beginning of a half second.
    pub(super) fn new(server: &dyn ScriptServer, keeps_all: bool) -> Modelled<'_> {
        let mut node = Node::new(server, "order:42");
        let _: () = node.lock.command(&["FLUSHALL"]);
        let (sent, delay) = if keeps_all { (0, 0) } else { DELAY };
        node.delay = sent;
        let rules = Rules {
            claim: 1_500,
            live: 6_000,
            delay,
            unit: 1_000,
            turns: 16,
            ahead: 1_000_000,
            behind: 86_400_000_000,
            mistake: None,
        };
        let mut modelled = Modelled {
            server,
            node,
            rules,
            now: 0,
            boot: 1,
            counts: 0,
            records: Records::default(),
            dead: Vec::new(),
            queue_until: 0,
            pushed: Vec::new(),
        };
        let past = modelled.shown() % HALF_SECOND;
        modelled.pass(Duration::from_millis((HALF_SECOND - past).unsigned_abs()));
        modelled
    }

    fn shown(&self) -> Ticks {
        self.server.time().div_euclid(1_000)
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.server.forward(time);
        self.settle();
    }

    pub(super) fn back(&mut self, time: Duration) {
        self.server.back(time);
        self.settle();
    }

    /// A clock that counts on may later be behind the time that it wrote, as with a stamp that was far off. So no other
    /// command runs at the time of such a stamp.
    pub(super) fn leave_an_ambiguous_moment(&mut self) -> Result<(), String> {
        let mut queue = self.records.queue.iter();
        if queue.any(|entry| self.is_now(entry.stamp)) {
            self.pass(Duration::from_millis(5));
            self.compare()?;
        }
        Ok(())
    }

    /// Reads the clock, and makes the model drop expired records, as the server does when they are read. An entry that
    /// has died stays on the server, and lives again if the clock is set back.
    fn settle(&mut self) {
        self.now = self.shown();
        let entries = self.records.queue.iter().copied();
        let entries = entries.chain(std::mem::take(&mut self.dead));
        let is_dead = |entry: &Entry| entry.live_until <= self.now;
        let (dead, mut live): (Vec<_>, Vec<_>) = entries.partition(is_dead);
        live.sort_unstable();
        self.dead = dead;
        self.records.queue = live;
        if self.queue_until <= self.now {
            self.dead.clear();
            self.records.queue.clear();
        }
        self.records.expire(self.now);
    }

    pub(super) fn run(&mut self, who: char, command: Command) -> Answer {
        let mut pushed = Vec::new();
        let lock = self.records.lock;
        let clock = (self.now, self.boot);
        let command = (number(who), command);
        let answer = run(&mut self.records, clock, &self.rules, command, &mut pushed);
        let is_queued = match command.1 {
            Command::Acquire { queues, .. } => queues,
            Command::Yield { .. } => self.records.lock != lock,
            _ => false,
        };
        if is_queued && matches!(answer, Answer::Waiting { .. }) {
            self.queue_until = self.now + QUEUE;
        }
        pushed.dedup();
        self.pushed = pushed.into_iter().map(letter).collect();
        answer
    }

    /// A waiter counts as dead, however the clock is set.
    pub(super) fn lose_heart(&mut self, who: char) {
        self.node.lock.stop_heart(who);
        let entries = self.records.queue.iter_mut().chain(&mut self.dead);
        let lost = entries.filter(|entry| entry.owner == number(who));
        lost.for_each(|entry| entry.live_until = 0);
        self.settle();
    }

    /// The server is restarted with all its records.
    pub(super) fn restart(&mut self) {
        self.boot += 1;
        self.node.boot = format!("boot-{}", self.boot);
    }

    pub(super) fn flush(&mut self) {
        let _: () = self.node.lock.command(&["FLUSHALL"]);
        self.records = Records::default();
        self.dead.clear();
    }

    pub(super) fn lose_lock(&mut self) {
        let k = self.node.lock.k.clone();
        let _: i64 = self.node.lock.command(&["DEL", &k]);
        self.records.lock = None;
    }

    pub(super) fn lose_marker(&mut self) {
        let m = self.node.m.clone();
        let _: i64 = self.node.lock.command(&["DEL", &m]);
        self.records.marker = None;
    }

    pub(super) fn lose_queue(&mut self) {
        let q = self.node.lock.q.clone();
        let _: i64 = self.node.lock.command(&["DEL", &q]);
        self.records.queue.clear();
        self.dead.clear();
    }

    /// The token of K, or of F.
    pub(super) fn token(&self) -> Token {
        let lock = self.records.lock;
        lock.map_or(self.records.fence, |lock| lock.token)
    }

    pub(super) fn holder(&self) -> Option<char> {
        self.records.lock.map(|lock| letter(lock.owner))
    }

    /// A waiter, by its place.
    pub(super) fn waiter(&self, place: usize) -> Option<char> {
        let queue = &self.records.queue;
        let entry = queue.get(place % queue.len().max(1))?;
        Some(letter(entry.owner))
    }

    pub(super) fn is_dead(&self, who: char) -> bool {
        self.dead.iter().any(|entry| entry.owner == number(who))
    }

    /// The server's token or stamp, which takes the place of the model's. They are equal unless they come from the clock.
    pub(super) fn number(&self, what: &str, seen: i64, expected: Token) -> Result<Token, String> {
        let is_time = seen > expected && self.is_now(seen) && self.is_now(expected);
        agree(what, seen, if is_time { seen } else { expected })?;
        Ok(seen)
    }

    fn is_now(&self, micros: i64) -> bool {
        near("time", micros / 1_000, self.now).is_ok()
    }
}

/// Asserts that a time in ms is the expected one, except for the time that a clock counts on.
pub(super) fn near(what: &str, seen: i64, expected: Ticks) -> Result<(), String> {
    let is_near = (seen - expected).abs() <= COUNTED_ON_MS;
    agree(what, seen, if is_near { seen } else { expected })
}

pub(super) fn number(who: char) -> Owner {
    let place = OWNERS.find(who);
    place.expect("one of the letters") as Owner
}

pub(super) fn letter(owner: Owner) -> char {
    let mut letters = OWNERS.chars();
    letters.nth(owner.into()).expect("one of the letters")
}
