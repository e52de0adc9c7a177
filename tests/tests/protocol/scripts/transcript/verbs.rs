//! The scripts: steps of owners and of operators.

use harness::{READ, Share, owner};
use redis::RedisResult;

use super::super::quorum::node::{Ask, Reply};
use super::super::{NOTICE, TTL};
use super::answer::{Got, of_all};
use super::number::ms;
use super::outside::{in_full, letter};
use super::redisson;
use super::world::{Kind, World};

const OF_OWNERS: &[&str] = &[
    "acquire",
    "try",
    "take",
    "mint",
    "renew",
    "release",
    "reserve",
    "end",
    "yield",
    "hold",
    "revoked",
    "downgrade",
    "listen",
    "dies",
    "silent",
    "enters",
];

pub(crate) fn is_of_owner(verb: &str) -> bool {
    OF_OWNERS.contains(&verb)
}

/// How an owner wants the lock.
enum Mode {
    Plain,
    Share(Share),
    Writer,
    All,
}

/// The words behind a verb, sorted.
pub(super) struct Words<'a> {
    mode: Mode,
    pub(super) ttl: i64,
    /// The same number for a mint or a downgrade, with another default.
    age: i64,
    proposal: Option<&'a str>,
    others: Vec<&'a str>,
}

impl World {
    pub(crate) fn carry_out(&mut self, step: &[&str]) -> Got {
        if self.kind != Kind::Node {
            let place = step.iter().find_map(|word| word.strip_prefix('@'));
            self.place = place.map_or(0, |place| place.parse::<usize>().expect("a number") - 1);
        }
        let step: Vec<&str> = step
            .iter()
            .copied()
            .filter(|word| !word.starts_with('@'))
            .collect();
        let Some(&verb) = step.get(1).filter(|verb| is_of_owner(verb)) else {
            return self.happen(&step);
        };
        let who = letter(step[0]);
        let words = sort(&step[2..]);
        match self.kind {
            _ if ["listen", "dies", "silent", "enters"].contains(&verb) => {
                self.live(who, verb, &words.others, &words.mode.entry(who));
                Got::Nothing
            }
            Kind::Node => self.ask_node(who, verb, &words),
            Kind::Redisson => redisson::ask(self.lock(), who, verb, &words),
            _ => self.ask_lock(who, verb, &words),
        }
    }

    fn ask_lock(&mut self, who: char, verb: &str, words: &Words<'_>) -> Got {
        let ttl = if verb == "try" { -words.ttl } else { words.ttl };
        let all = &mut self.all;
        let lock = &mut all.locks[self.place];
        match (verb, &words.mode) {
            ("acquire" | "try", Mode::Plain) => lock.acquire(who, ttl).into(),
            ("acquire" | "try", Mode::Share(share)) => lock.share(who, *share, ttl).into(),
            ("acquire" | "try", Mode::Writer) => lock.write(who, ttl).into(),
            ("acquire" | "try", Mode::All) => {
                let answer = all.acquire(who, ttl);
                of_all(answer, all.holds_later)
            }
            ("take", _) => lock.take(who, ttl).into(),
            ("mint", _) => lock.mint(who, words.age).into(),
            ("downgrade", _) => lock.downgrade(who, READ, TTL, words.age).into(),
            ("renew", Mode::Share(share)) => lock.renew_share(who, *share, ttl).into(),
            ("renew", Mode::All) => all.renew(who, ttl).into(),
            ("renew", _) => lock.renew(who, ttl).into(),
            ("release", Mode::Share(share)) => lock.release_share(who, *share).into(),
            ("release", Mode::All) => all.release(who).into(),
            ("release", _) => lock.release(who).into(),
            ("reserve", _) => lock.reserve(who, ttl).into(),
            ("end", Mode::Share(share)) => lock.end_share(who, *share).into(),
            ("end", Mode::Writer) => lock.end_write(who).into(),
            ("end", Mode::All) => all.end(who).into(),
            ("end", Mode::Plain) => match words.others[..] {
                ["next", next] => {
                    let next = letter(next);
                    lock.end_with_next(who, next, ttl).into()
                }
                _ => lock.end(who).into(),
            },
            (other, _) => panic!("no step of a lock: {other}"),
        }
    }

    fn ask_node(&mut self, who: char, verb: &str, words: &Words<'_>) -> Got {
        let zero = self.zero;
        let mut micros = |at: usize| words.others.get(at).map(|text| self.number(text));
        let numbers = [micros(0), micros(1)];
        let proposal = self.proposal(words.proposal);
        // Stamps are named by their distance from the beginning.
        let stamp = |micros: Option<i64>| match micros {
            Some(micros) if micros > zero / 2 => micros - zero,
            micros => micros.unwrap_or(0),
        };
        let node = self.node.as_mut().expect("a transcript of a node");
        let times = &mut self.times;
        let mut timed = |reply: RedisResult<Reply>| {
            times.extend(reply.as_ref().ok().and_then(Reply::now));
            Got::from(reply)
        };
        match verb {
            "acquire" | "try" => {
                let ttl = if verb == "try" { -words.ttl } else { words.ttl };
                let ask = Ask::by(stamp(numbers[0])).ttl(ttl).proposing(proposal);
                timed(node.ask(who, &ask))
            }
            "yield" => {
                let token = numbers[0].expect("a token");
                timed(node.yielding(who, token, stamp(numbers[1])))
            }
            "hold" => timed(node.hold(who, words.ttl, numbers[0].expect("a token"))),
            "end" => node.end(who, proposal).into(),
            "renew" => node.lock.renew(who, words.ttl).into(),
            "release" => node.lock.release(who).into(),
            "revoked" => node
                .revoke(&owner(who), -1, numbers[0].expect("a token"))
                .into(),
            other => panic!("no step of a node: {other}"),
        }
    }

    /// A proposed token, as it is sent. Text in quotes is sent as it is.
    fn proposal(&mut self, text: Option<&str>) -> String {
        match text {
            None => "0".to_owned(),
            Some(text) if text.starts_with('\'') => in_full(text),
            Some(text) => match text.strip_prefix('=') {
                Some(known) => format!("={:016}", self.number(known)),
                None => self.number(text).to_string(),
            },
        }
    }

    /// An operator revokes the lock of its owner, or of another program.
    pub(crate) fn revoke(&mut self, words: &[&str]) -> Got {
        if self.kind == Kind::Redisson {
            return redisson::revoke(self.lock(), words);
        }
        if let [record, length] = words {
            let record = in_full(record);
            let length = length.parse().expect("a length");
            return match &mut self.node {
                Some(node) => node.revoke(&record, length, 17).into(),
                None => self.lock().revoke_record(&record, length, NOTICE).into(),
            };
        }
        let token = self.number(words[0]);
        self.lock().revoke(token, NOTICE).into()
    }
}

impl Mode {
    fn entry(&self, who: char) -> String {
        match self {
            Mode::Share(share) => share.entry(who),
            _ => harness::entry(who),
        }
    }
}

fn sort<'a>(words: &[&'a str]) -> Words<'a> {
    let mut sorted = Words {
        mode: Mode::Plain,
        ttl: TTL,
        age: 0,
        proposal: None,
        others: Vec::new(),
    };
    for &word in words {
        if let Some(proposal) = word.strip_prefix("p=") {
            sorted.proposal = Some(proposal);
        } else if let Some(ttl) = ms(word) {
            (sorted.ttl, sorted.age) = (ttl, ttl);
        } else if let Some((take, limit)) = word.split_once('/') {
            let number = |text: &str| text.parse().expect("a number");
            sorted.mode = Mode::Share(Share::permits(number(take), number(limit)));
        } else {
            match word {
                "r" => sorted.mode = Mode::Share(READ),
                "w" => sorted.mode = Mode::Writer,
                "all" => sorted.mode = Mode::All,
                other => sorted.others.push(other),
            }
        }
    }
    sorted
}
