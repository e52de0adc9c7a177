//! Converts the model's numbers to the server's. A tick is 310 ms, so that no lease, claim, heartbeat or delay ends at
//! a tick.

use std::collections::BTreeMap;

use lock_model::quorum::records::{Ticks, Token, UNIT};
use lock_model::quorum::scripts::{Rules, token_of};

use super::super::{COUNTED_ON_MS, SECOND};

pub(super) const TICK_MS: i64 = 310;
const TICK: i64 = TICK_MS * 1_000;

/// Restart delays in ms. The longer one, its hundredth and 2 ms are 32.6 ticks.
pub(super) const DELAY_MS: i64 = 10_000;
pub(super) const DELAY: Ticks = 33;

/// How long a queue outlives its last poll: 7 s.
pub(super) const QUEUE: Ticks = 23;

/// The model counts ticks to 255, including the times after a token.
pub(super) const LAST_PROPOSAL: Token = 190 * UNIT;

/// How much a script adds to the last token.
const TURNS: i64 = 16;
/// The distance (µs) between the stamps of one tick.
const STAMPS: i64 = 20_000;
const SLACK: i64 = 1_000 * COUNTED_ON_MS;

/// The model's times round up the milliseconds of the scripts.
pub(super) fn rules(delay: Ticks) -> Rules {
    let ticks = |micros: i64| (micros + TICK - 1) / TICK;
    Rules {
        claim: ticks(SECOND * 3 / 2) as Ticks,
        live: ticks(6 * SECOND) as Ticks,
        delay,
        // The last tick within a second, with all its tokens.
        ahead: (SECOND / TICK) as Token * UNIT + UNIT - 1,
        mistake: None,
    }
}

/// A ttl in ms that lasts for this many ticks, but ends before the last one begins.
pub(super) fn ttl(ticks: Ticks) -> i64 {
    i64::from(ticks) * TICK_MS - 100
}

pub(super) fn ticks(ms: i64) -> Ticks {
    let ticks = (ms + TICK_MS - 1).div_euclid(TICK_MS);
    ticks.try_into().expect("a sequence is that short")
}

/// How long a node has waited (ms).
pub(super) fn waited(ticks: Ticks) -> i64 {
    i64::from(ticks) * TICK_MS
}

pub(super) fn count(name: u8) -> String {
    format!("count-{name}")
}

/// The times and tokens of one sequence.
#[derive(Debug)]
pub(super) struct Scale {
    /// The server's clock in tick 0.
    zero: i64,
    /// The server's tokens that were seen, by the model's.
    seen: BTreeMap<Token, i64>,
}

impl Scale {
    pub(super) fn new(zero: i64) -> Scale {
        let seen = BTreeMap::new();
        Scale { zero, seen }
    }

    pub(super) fn micros(&self, time: Ticks) -> i64 {
        self.zero + i64::from(time) * TICK
    }

    /// Asserts that `micros` is the server's time in this tick.
    pub(super) fn check(&self, what: &str, micros: i64, time: Ticks) -> Result<(), String> {
        near(what, micros, self.micros(time))
    }

    /// The same, but this many µs after the tick.
    pub(super) fn check_after(
        &self,
        what: &str,
        micros: i64,
        time: Ticks,
        after: i64,
    ) -> Result<(), String> {
        near(what, micros, self.micros(time) + after)
    }

    fn ideal(&self, token: Token) -> i64 {
        let (tick, rest) = (token / UNIT, token % UNIT);
        self.micros(tick as Ticks) + i64::from(rest) * TURNS
    }

    /// A stamp, which no fence renumbers.
    pub(super) fn stamp(&self, stamp: Token) -> i64 {
        let (tick, rest) = (stamp / UNIT, stamp % UNIT);
        self.micros(tick as Ticks) + i64::from(rest) * STAMPS
    }

    pub(super) fn check_stamp(&self, seen: i64, stamp: Token) -> Result<(), String> {
        near("stamp", seen, self.stamp(stamp))
    }

    /// A token to propose, in the order of the tokens that were seen.
    pub(super) fn token(&self, token: Token) -> i64 {
        if let Some(&seen) = self.seen.get(&token) {
            return seen;
        }
        let first = token - token % UNIT;
        let below = self.seen.range(first..token).next_back();
        let above = self.seen.range(token..first + UNIT).next();
        let apart = |from: Token, to: Token| i64::from(to - from) * TURNS;
        match (below, above) {
            (Some((&below, &seen)), _) => seen + apart(below, token),
            (None, Some((&above, &seen))) => seen - apart(token, above),
            (None, None) => self.ideal(token),
        }
    }

    /// Asserts that a token of the server matches the model's: it is near it, and in the order of all tokens that were
    /// seen.
    pub(super) fn check_token(
        &mut self,
        what: &str,
        seen: i64,
        token: Token,
    ) -> Result<(), String> {
        near(what, seen, self.ideal(token))?;
        if let Some(&known) = self.seen.get(&token) {
            return if known == seen {
                Ok(())
            } else {
                Err(format!("{what}: {token} was {known}, and is {seen}"))
            };
        }
        let below = self.seen.range(..token).next_back();
        let above = self.seen.range(token..).next();
        let rises = below.is_none_or(|(_, &below)| below < seen)
            && above.is_none_or(|(_, &above)| seen < above);
        if !rises {
            return Err(format!(
                "{what}: {token} is {seen}, between {below:?} and {above:?}"
            ));
        }
        self.seen.insert(token, seen);
        Ok(())
    }

    /// Forgets all tokens: the server has lost its fence.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }
}

/// The tick of a token, and the last one in it.
pub(super) fn is_last_of_its_tick(token: Token) -> bool {
    token % UNIT == UNIT - 1
}

pub(super) fn tick_after(token: Token) -> Ticks {
    (token / UNIT) as Ticks + 1
}

/// The first token of a tick that is this many ticks away.
pub(super) fn away(now: Ticks, ticks: i16) -> Token {
    let tick = (i16::from(now) + ticks).max(0);
    token_of(tick as Ticks)
}

fn near(what: &str, seen: i64, expected: i64) -> Result<(), String> {
    if (seen - expected).abs() <= SLACK {
        return Ok(());
    }
    Err(format!(
        "{what}: the server has {seen}, the model {expected} ({} more)",
        seen - expected
    ))
}
