//! Compares the server's records with the model's.

use harness::{entry, owner};
use lock_model::quorum::records::{Count, Entry, Marker};

use super::super::node::value;
use super::node::{Modelled, letter, near, number};
use super::step::count_named;
use crate::scripts::random::stage::agree;

/// Reads all records in one command.
const READ: &str = "
    return {
        redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]),
        redis.call('GET', KEYS[2]) or '', redis.call('PTTL', KEYS[2]),
        redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'), redis.call('PTTL', KEYS[3]),
        redis.call('GET', KEYS[4]) or '', redis.call('PTTL', KEYS[4]),
    }";

type Members = Vec<(String, i64)>;

/// How long a fence outlives its token, in ms.
const DAY: i64 = 86_400_000;

impl Modelled<'_> {
    /// Asserts that the server has the model's records.
    pub(super) fn compare(&mut self) -> Result<(), String> {
        let (lock, m) = (&self.node.lock, &self.node.m);
        let mut read = redis::cmd("EVAL");
        read.arg(READ).arg(4).arg(&[&lock.k, &lock.f, &lock.q, m]);
        let connection = &mut *self.node.lock.connection;
        let (lock, rest, fence, fence_rest, queue, queue_rest, marker, marker_rest) =
            read.query(&mut *connection).expect("all can be read");
        self.compare_queue(queue, queue_rest)?;
        self.compare_lock(lock, rest)?;
        self.compare_fence(fence, fence_rest)?;
        self.compare_marker(marker, marker_rest)
    }

    fn compare_lock(&mut self, text: String, rest: i64) -> Result<(), String> {
        let Some(mut lock) = self.records.lock else {
            return agree("lock", text, String::new());
        };
        let digits = text.get(23..39).unwrap_or_default();
        let token = digits.parse().map_err(|_| format!("a lock of {text:?}"))?;
        let is_flagged = text.as_bytes()[22] == b'+';
        // Members of dead waiters set the flag as well.
        lock.flagged |= is_flagged && !self.dead.is_empty();
        agree("flag", is_flagged, lock.flagged)?;
        let flag = if is_flagged { '+' } else { ' ' };
        agree("lock", text, value(letter(lock.owner), flag, token))?;
        lock.token = self.number("token", token, lock.token)?;
        self.records.lock = Some(lock);
        near("rest", rest, lock.expires_at - self.now)
    }

    fn compare_fence(&mut self, text: String, rest: i64) -> Result<(), String> {
        let fence = match (text.parse(), self.records.fence) {
            (Err(_), 0) => return Ok(()),
            (Ok(fence), expected @ 1..) => self.number("fence", fence, expected)?,
            (_, expected) => return Err(format!("fence: {text:?}, the model {expected}")),
        };
        self.records.fence = fence;
        // `quorum_take` adds the most that a token may be ahead.
        let more = self.now + rest - fence / 1_000 - DAY;
        near("memory of the fence", more.clamp(0, 1_000), more)
    }

    fn compare_marker(&self, text: String, rest: i64) -> Result<(), String> {
        let Some(Marker { boot, count }) = self.records.marker else {
            return agree("marker", text, String::new());
        };
        let count = count.map(|Count { name, waited }| format!(" {} {waited}", count_named(name)));
        let expected = format!(
            "boot-{boot} {}{}",
            self.node.delay,
            count.unwrap_or_default()
        );
        agree("marker", text, expected)?;
        agree("expiry of the marker", rest, -1)
    }

    fn compare_queue(&mut self, members: Members, rest: i64) -> Result<(), String> {
        let (entries, hearts): (Members, Members) =
            members.into_iter().partition(|(_, score)| *score > 0);
        agree("members", hearts.len(), entries.len())?;
        if !entries.is_empty() {
            near("rest of the queue", rest, self.queue_until - self.now)?;
        }
        let known = self.records.queue.iter().chain(&self.dead).copied();
        let known: Vec<Entry> = known.collect();
        let mut seen = Vec::new();
        for (text, stamp) in entries {
            let who = text.chars().next().expect("an entry");
            agree("entry", text, entry(who))?;
            let known = known.iter().find(|entry| entry.owner == number(who));
            let mut entry = *known.ok_or_else(|| format!("{who} queues"))?;
            entry.stamp = self.number("stamp", stamp, entry.stamp)?;
            let heart = hearts.iter().find(|(member, _)| *member == owner(who));
            let (_, until) = heart.ok_or_else(|| format!("{who} has no heartbeat"))?;
            near("heartbeat", -until / 1_000, entry.live_until)?;
            seen.push(entry);
        }
        let is_dead = |entry: &Entry| entry.live_until <= self.now;
        let (dead, live): (Vec<_>, Vec<_>) = seen.into_iter().partition(is_dead);
        let owners =
            |queue: &[Entry]| -> Vec<_> { queue.iter().map(|entry| entry.owner).collect() };
        agree("queue", owners(&live), owners(&self.records.queue))?;
        (self.dead, self.records.queue) = (dead, live);
        Ok(())
    }

    /// The place of a waiter on the server, where dead waiters may precede it.
    pub(super) fn place_on_server(&self, who: char, place: u8) -> i64 {
        let mut queue = self.records.queue.iter();
        let Some(own) = queue.find(|entry| entry.owner == number(who)) else {
            return 0;
        };
        let dead = self.dead.iter().filter(|entry| entry < &own);
        i64::from(place) + dead.count() as i64
    }
}
