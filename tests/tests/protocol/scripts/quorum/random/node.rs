//! A node and its model, side by side.

use harness::RedisServer;
use lock_model::quorum::records::{Entry, Owner, Records, Ticks, Token};
use lock_model::quorum::scripts::{Answer, Command, Rules, run, token_of};

use super::super::forward;
use super::super::node::Node;
use super::scale::{self, Scale, TICK_MS};

/// Owners by their numbers, in the order of their entries.
const OWNERS: &str = "ABCDEF";

/// The tick in which a sequence begins. The clock may be set back.
const START: Ticks = 10;
/// The last tick: the model counts to 255, including the times after it.
const LAST: Ticks = 140;

pub(super) struct Modelled<'a> {
    server: &'a RedisServer,
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
    pub(super) scale: Scale,
}

impl Modelled<'_> {
    pub(super) fn new(server: &RedisServer, keeps_all: bool) -> Modelled<'_> {
        let mut node = Node::new(server, "order:42");
        let _: () = node.lock.command(&["FLUSHALL"]);
        node.delay = if keeps_all { 0 } else { scale::DELAY_MS };
        let zero = server.clock().now() - i64::from(START) * TICK_MS * 1_000;
        Modelled {
            server,
            node,
            rules: scale::rules(if keeps_all { 0 } else { scale::DELAY }),
            now: START,
            boot: 1,
            counts: 0,
            records: Records::default(),
            dead: Vec::new(),
            queue_until: 0,
            pushed: Vec::new(),
            scale: Scale::new(zero),
        }
    }

    /// Time passes, until the last tick.
    pub(super) fn pass(&mut self, ticks: Ticks) {
        if self.now + ticks <= LAST {
            self.pass_to(self.now + ticks);
        }
    }

    fn pass_to(&mut self, tick: Ticks) {
        let ticks = u64::from(tick - self.now);
        forward(self.server, ticks * TICK_MS as u64);
        self.now = tick;
        self.settle();
    }

    /// A clock that counts on may later be behind the time that it wrote, as with a stamp that was far off. So no other
    /// command runs in the tick of such a stamp.
    pub(super) fn leave_an_ambiguous_tick(&mut self) -> Result<(), String> {
        while self.is_in_an_ambiguous_tick() {
            self.pass_to(self.now + 1);
            self.compare()?;
        }
        Ok(())
    }

    fn is_in_an_ambiguous_tick(&self) -> bool {
        let mut queue = self.records.queue.iter();
        queue.any(|entry| entry.stamp == token_of(self.now))
    }

    /// The clock is set back, to the second tick at the earliest.
    pub(super) fn back(&mut self, ticks: Ticks) {
        let ticks = ticks.min(self.now - 2);
        let ms = u64::from(ticks) * TICK_MS as u64;
        self.server.back(std::time::Duration::from_millis(ms));
        self.now -= ticks;
        self.settle();
    }

    /// Makes the model drop expired records, as the server does when they are read. An entry that has died stays on the
    /// server, and lives again if the clock is set back.
    fn settle(&mut self) {
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

    /// A tick has tokens for few grants only: time passes if they are used up.
    pub(super) fn make_room_for_tokens(&mut self) {
        let last = self.records.fence;
        if scale::is_last_of_its_tick(last) && last >= token_of(self.now) {
            self.pass_to(scale::tick_after(last));
        }
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
            self.queue_until = self.now + scale::QUEUE;
        }
        pushed.dedup();
        self.pushed = pushed.into_iter().map(letter).collect();
        answer
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
        self.scale.forget();
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
}

pub(super) fn number(who: char) -> Owner {
    let place = OWNERS.find(who);
    place.expect("one of the letters") as Owner
}

pub(super) fn letter(owner: Owner) -> char {
    let mut letters = OWNERS.chars();
    letters.nth(owner.into()).expect("one of the letters")
}
