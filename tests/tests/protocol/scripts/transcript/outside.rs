//! Effects from outside: processes, time, other programs and administrators.

use std::time::Duration;

use harness::{Listener, owner};
use redis::ToRedisArgs;

use super::super::spoil;
use super::answer::Got;
use super::number::ms;
use super::redisson::{field, pair};
use super::world::World;
use crate::scripts::quorum::node::Marked;

const SECOND: i64 = 1_000_000;

impl World {
    pub(crate) fn happen(&mut self, step: &[&str]) -> Got {
        match *step {
            ["revoke", ref words @ ..] => return self.revoke(words),
            ["mark"] => {
                let marked = self.node().mark("new", ("", 0));
                let early = |marked: Marked| {
                    self.times.push(marked.now);
                    Got::Early(marked.left)
                };
                return marked.map_or_else(Got::Failed, early);
            }
            ["monitor"] => self.monitors.push(self.server.listen("PSUBSCRIBE", "*")),
            ["expire"] => self.lose("K"),
            ["lose", record] => self.lose(record),
            ["spoil", record] => {
                let key = self.key(record);
                spoil(self.lock(), &key);
            }
            ["persist", record] => self.send("PERSIST", record, None::<i64>),
            ["shorten", record, span] => self.send("PEXPIRE", record, ms(span)),
            ["flag"] => self.send("SETRANGE", "K", &["22", "+"]),
            ["unflag"] => self.send("SETRANGE", "K", &["22", " "]),
            // In a text, `~` is a space, and `A{22}` stands for owner A.
            ["set", record, value, ref px @ ..] => {
                let text = if value.starts_with('\'') {
                    in_full(value)
                } else {
                    self.number(value).to_string()
                };
                self.send("SET", record, text);
                px.iter()
                    .for_each(|span| self.send("PEXPIRE", record, ms(span)));
            }
            // Waiters without heartbeats.
            ["fill", count] => {
                let (first, count) = (self.lock().now() - SECOND, number(count));
                let dead = |n: i64| [(first + n).to_string(), format!("waiter {n:05}")];
                self.send("ZADD", "Q", (0..count).flat_map(dead).collect::<Vec<_>>());
            }
            ["leave", member] => self.send("ZREM", "Q", in_full(member)),
            // Shares of killed holders.
            ["crash", count, ends] => self.crash(number(count), ends),
            ["uncount"] => self.send("ZREM", "R", "="),
            ["put", ref holders @ ..] => {
                let pairs = holders.iter().flat_map(|holder| pair(holder));
                self.send("HSET", "K", pairs.collect::<Vec<_>>());
            }
            ["push", ref letters @ ..] => {
                let fields = letters.iter().map(|who| field(letter(who)));
                self.send("RPUSH", "Q", fields.collect::<Vec<_>>());
            }
            ["pass", "to", span] => {
                let into = self.lock().now() % SECOND;
                let micros = SECOND - into + 1_000 * ms(span).expect("a span");
                self.server
                    .forward(Duration::from_micros(micros.unsigned_abs()));
            }
            ["pass", span] => self.server.forward(exactly(span)),
            ["back", span] => self.server.back(exactly(span)),
            ["full"] => self.server.set_full(true),
            ["deny", rule] => {
                self.server.spend();
                let _: () = self.lock().command(&["ACL", "SETUSER", "harness", rule]);
            }
            ["boot", boot] => self.node().boot = boot.to_owned(),
            ["delay", ms] => {
                self.node().delay = number(ms);
                self.node().mark_as_voting();
            }
            ["disagree", ms] => self.node().delay = number(ms),
            ref other => panic!("no step {other:?}"),
        }
        Got::Nothing
    }

    /// Changes the process of an owner, or its place.
    pub(crate) fn live(&mut self, who: char, verb: &str, words: &[&str], entry: &str) {
        let now = self.lock().now();
        match verb {
            "listen" => {
                let listener = Listener::of(&**self.server, who);
                self.listeners.insert(who, listener);
            }
            "dies" => self.lock().stop_heart(who),
            // Its last poll was two seconds ago, and it counts as alive for four more.
            "silent" => {
                let live = (-(now + 4 * SECOND)).to_string();
                self.send("ZADD", "Q", &["XX", &live[..], &owner(who)[..]]);
            }
            // As after a failover that restores an old queue.
            _ => {
                let ticket = self.number(words[0]).to_string();
                self.send("ZADD", "Q", &[&ticket[..], entry]);
                if words.get(1) != Some(&"heartless") {
                    let live = (-(now + 6 * SECOND)).to_string();
                    self.send("ZADD", "Q", &[&live, &owner(who)]);
                }
            }
        }
    }

    /// Sends a command about a record.
    fn send(&mut self, command: &str, record: &str, arguments: impl ToRedisArgs) {
        let key = self.key(record);
        let mut call = redis::cmd(command);
        call.arg(key).arg(arguments);
        call.exec(&mut *self.lock().connection)
            .expect("the record is of that type");
    }

    fn lose(&mut self, record: &str) {
        let key = self.key(record);
        let deleted: i64 = self.lock().command(&["DEL", &key]);
        assert_eq!(deleted, 1, "{key} was there");
    }

    fn crash(&mut self, count: i64, ends: &str) {
        let r = self.key("R");
        let ends: i64 = match ends.strip_prefix("with:") {
            Some(who) => self.lock().command(&["ZSCORE", &r, &owner(letter(who))]),
            None => self.number(ends),
        };
        let sum: i64 = self.lock().command(&["ZSCORE", &r, "="]);
        let crashed = |n: i64| [ends.to_string(), format!("crashed {n:014}")];
        let sum = [(sum - count).to_string(), "=".to_owned()];
        let members = (1..=count).flat_map(crashed).chain(sum);
        self.send("ZADD", "R", members.collect::<Vec<_>>());
    }
}

pub(super) fn letter(text: &str) -> char {
    text.chars().next().expect("a letter")
}

fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

/// A text without its quotes and abbreviations: `A{22}` is owner A, `1{16}` is sixteen ones, and `~` a space.
pub(crate) fn in_full(text: &str) -> String {
    let mut full = String::new();
    let mut rest = text.trim_matches('\'');
    while let Some((before, (count, after))) = rest
        .split_once('{')
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        let repeated = before.chars().next_back().expect("what is repeated");
        let count: usize = count.parse().expect("a number");
        full += before;
        full.extend(std::iter::repeat_n(repeated, count - 1));
        rest = after;
    }
    (full + rest).replace('~', " ").replace("\\n", "\n")
}

fn exactly(span: &str) -> Duration {
    match span.strip_suffix("us") {
        Some(us) => Duration::from_micros(us.parse().expect("digits")),
        None => Duration::from_millis(ms(span).expect("a span").unsigned_abs()),
    }
}
