//! Facts: what is so after a step.
//!
//! | fact | what is so |
//! |---|---|
//! | `A T`, `A+ T` | the whole record of owner A, its flag and its token |
//! | `shared+ T` | it is shared; `free`, `'text'` |
//! | `60s`, `claim`, `forever` | the rest of its lease |
//! | `same` | the step has written nothing |
//! | `queue BC` | these queue, in this order, each with its heartbeat; `queue -`: Q is empty |
//! | `ticket B T` | when B began to queue |
//! | `entries BC`, `members 4`, `first 'text'` | who queues, how many members Q has, and its first one; heartbeats or not |
//! | `fence T`, `remembered` | F, and that it outlives its token by a day |
//! | `inside BC`, `sum 3`, `shares B5s` | these share the lock, and the sum, the expiries and the flag fit them; the rest of a share |
//! | `told B`, `notified A`, `untold B` | the one message to B since the last look: a grant, a revocation; or none |
//! | `tells BC` | of all that listen, these are told of a grant, and no other is told anything |
//! | `fields A1`, `announces all C` | Redisson's record, and to whom its end is announced: to all, and to C |
//! | `holders AB.` | of all three locks; a dot is one that is free |
//! | `expiry Q 7s`, `stamp B 10`, `marker 'boot-2~60000'`, `label host-A` | others |

use harness::{RawLock, entry, owner};

use super::super::NOTICE;
use super::expect;
use super::number::{is_near, ms};
use super::outside::{in_full, letter};
use super::redisson::{field, pair};
use super::world::{COUNTED_ON_MS, Kind, Snapshot, World, is_same};

const DAY_MS: i64 = 86_400_000;

type Outcome = Result<(), String>;

impl World {
    pub(crate) fn check_fact(&mut self, fact: &str, before: &Snapshot) -> Outcome {
        let mut words: Vec<&str> = fact.split_whitespace().collect();
        let place = self.place;
        if let Some(number) = words[0].strip_prefix('@') {
            self.place = number.parse::<usize>().expect("a number") - 1;
            words.remove(0);
        }
        let outcome = self.check_words(fact, &words, before);
        self.place = place;
        outcome
    }

    fn check_words(&mut self, fact: &str, words: &[&str], before: &Snapshot) -> Outcome {
        match *words {
            ["same"] => {
                let after = self.snapshot();
                expect(
                    is_same(before, &after),
                    "that nothing is written",
                    "other records",
                )
            }
            ["free"] => is(fact, self.lock().value(), None),
            ["forever"] => is(fact, self.lock().pttl(), -1),
            [span] if ms(span).is_some() => near(fact, self.lock().pttl(), ms(span)),
            [text] if text.starts_with('\'') => is(fact, self.lock().value(), Some(in_full(text))),
            ["queue", letters] => {
                let letters = letters.trim_matches('-');
                let seen = (self.lock().queue(), self.lock().queue_members().len());
                is(fact, seen, (letters.to_owned(), 2 * letters.len()))
            }
            ["entries", letters] => is(fact, self.lock().queue(), letters.to_owned()),
            ["members", count] => {
                let members = self.lock().queue_members().len();
                is(fact, members.to_string(), count.to_owned())
            }
            ["first", text] => is(
                fact,
                self.lock().queue_members()[0].0.clone(),
                in_full(text),
            ),
            ["ticket", who, at] => {
                let q = self.key("Q");
                let ticket: i64 = self.lock().command(&["ZSCORE", &q, &entry(letter(who))]);
                match at {
                    "now" => self.check_near(at, ticket, 1),
                    _ => is(fact, ticket, self.number(at)),
                }
            }
            ["fence", token] => {
                let fence = self.lock().fence();
                let digits = fence.as_deref().filter(|fence| fence.len() == 16);
                let number = digits.and_then(|digits| digits.parse().ok());
                self.check_token(token, number.ok_or_else(|| format!("{fact}: {fence:?}"))?)
            }
            ["remembered"] => {
                let f = self.key("F");
                let token: i64 = self.lock().command(&["GET", &f]);
                let more = self.lock().expires_at(&f) - token / 1_000 - DAY_MS;
                // The records of `quorum_take` live longer by the most that a token may be ahead.
                let is_node = self.kind == Kind::Node;
                let most = if is_node { 1_010 } else { COUNTED_ON_MS };
                expect((0..=most).contains(&more), fact, more)
            }
            ["expiry", record, span] => {
                let key = self.key(record);
                near(
                    fact,
                    self.lock().command(&["PTTL", &key]),
                    ms(span).or(Some(-1)),
                )
            }
            ["inside", letters] => self.check_inside(letters),
            ["sum", sum] => is(
                fact,
                sum_of(&self.lock().shares()).to_string(),
                sum.to_owned(),
            ),
            ["shares", end] => {
                let (shares, who) = (self.lock().shares(), letter(end));
                let share = shares.iter().find(|(member, _)| member.starts_with(who));
                let ends = share.ok_or("there is no such share")?.1;
                near(fact, (ends - self.lock().now()) / 1_000, ms(&end[1..]))
            }
            ["label", label] => {
                let value = self.lock().value().unwrap_or_default();
                expect(value.ends_with(label), fact, value)
            }
            ["told", who] => self.check_heard(who, |who, k| vec![owner(who) + k]),
            ["notified", who] => {
                self.check_heard(who, |who, k| vec![format!("!{}{NOTICE}{k}", owner(who))])
            }
            ["untold", who] => self.check_heard(who, |_, _| Vec::new()),
            ["tells", letters] => {
                let listening: Vec<char> = self.listeners.keys().copied().collect();
                listening.into_iter().try_for_each(|who| {
                    let is_told = letters.contains(who);
                    let grant = |who, k: &str| is_told.then(|| owner(who) + k);
                    self.check_heard(&who.to_string(), |who, k| {
                        grant(who, k).into_iter().collect()
                    })
                })
            }
            ["fields", ref holders @ ..] => {
                let k = self.key("K");
                let expected = holders.iter().flat_map(|holder| pair(holder)).collect();
                is::<Vec<String>>(fact, self.lock().command(&["HGETALL", &k]), expected)
            }
            ["announces", ref to @ ..] => self.check_announced(fact, to),
            ["holders", letters] => {
                let holder =
                    |lock: &mut RawLock| lock.value().and_then(|value| value.chars().next());
                let locks = self.all.locks.iter_mut();
                let holders: String = locks.map(|lock| holder(lock).unwrap_or('.')).collect();
                is(fact, holders, letters.to_owned())
            }
            ["each", ref fact @ ..] => (1..=self.all.locks.len()).try_for_each(|place| {
                self.check_fact(&format!("@{place} {}", fact.join(" ")), before)
            }),
            ["stamp", who, stamp] => {
                let seen = self.node().stamp(letter(who)) + self.zero;
                match stamp {
                    "now" => self.check_near(stamp, seen, 1),
                    _ => is(fact, seen, self.number(stamp) + self.zero),
                }
            }
            ["marker", text] => {
                let marker = self.node().marker().unwrap_or_default();
                expect(marker == in_full(text), fact, marker)
            }
            [record, token] => self.check_record(record, token),
            _ => panic!("no fact: {fact}"),
        }
    }

    fn check_record(&mut self, record: &str, token: &str) -> Outcome {
        let value = self.lock().value().ok_or("the lock is free")?;
        let flag = if record.ends_with('+') { '+' } else { ' ' };
        let digits = value.get(23..39).unwrap_or("").to_owned();
        let number = digits.parse().map_err(|_| format!("no token in {value}"))?;
        let (begin, label) = match record.trim_end_matches('+') {
            "shared" => (format!("shared{digits}"), " shared: host-"),
            who => (owner(letter(who)), &entry(letter(who))[22..]),
        };
        let is_whole = value.starts_with(&format!("{begin}{flag}{digits} "));
        // An entry of a share has a tag before its label.
        let last = value.split(' ').next_back().unwrap_or("");
        let has_tag = last.starts_with('\u{1f}') && last.ends_with(&label[1..]);
        let is_labelled = has_tag || value[39..].starts_with(label);
        expect(is_whole && is_labelled, record, &value)?;
        self.check_token(token, number)
    }

    /// These share the lock, and its record, the sum in R and the expiries fit the members of R.
    fn check_inside(&mut self, letters: &str) -> Outcome {
        let lock = self.lock();
        let (shares, value) = (lock.shares(), lock.value().ok_or("the lock is free")?);
        let is_shared = value.starts_with("shared") && value[6..22] == value[23..39];
        expect(is_shared, "a shared lock", &value)?;
        let members = shares
            .iter()
            .map(|(member, _)| member)
            .filter(|member| *member != "=");
        let mut inside: Vec<char> = members.clone().map(|member| letter(member)).collect();
        inside.sort_unstable();
        let inside: String = inside.into_iter().collect();
        let is_so = letters == "?" || inside == letters || letters.parse() == Ok(inside.len());
        expect(is_so, &format!("inside {letters}"), inside)?;
        let take = |(_, take): (&str, &str)| take.parse::<i64>().expect("digits");
        let taken = members
            .map(|member| member.split_once('*').map_or(1, take))
            .sum();
        is("the sum", sum_of(&shares), taken)?;
        let last = shares.iter().map(|(_, ends)| ends).max().expect("shares");
        for key in [lock.k.clone(), lock.r.clone()] {
            is(&key, lock.expires_at(&key), (last + 999) / 1_000)?;
        }
        let has_flag = value.as_bytes()[22] == b'+';
        is("a flag that fits Q", has_flag, !lock.queue().is_empty())
    }

    fn check_heard(&mut self, who: &str, expected: impl Fn(char, &str) -> Vec<String>) -> Outcome {
        let (who, k) = (letter(who), self.key("K"));
        is(
            &format!("{who} is told"),
            self.heard(who),
            expected(who, &k),
        )
    }

    /// The messages to all waiters for Redisson's record, and to the first of a fair queue.
    fn check_announced(&mut self, fact: &str, to: &[&str]) -> Outcome {
        let channel = "redisson_lock__channel:{order:42}";
        let channels = to.iter().filter(|to| **to != "-").map(|to| match *to {
            "all" => channel.to_owned(),
            who => format!("{channel}:{}", field(letter(who))),
        });
        let expected = channels.map(|channel| (channel, "0".to_owned())).collect();
        let _: i64 = self.lock().command(&["PUBLISH", "end", ""]);
        let monitor = &mut self.monitors[0];
        let next = || Some(monitor.next_of_pattern()).filter(|(channel, _)| channel != "end");
        is::<Vec<_>>(fact, std::iter::from_fn(next).collect(), expected)
    }
}

fn sum_of(shares: &[(String, i64)]) -> i64 {
    let sum = shares.iter().find(|(member, _)| member == "=");
    sum.map_or(0, |(_, sum)| -sum)
}

fn is<T: PartialEq + std::fmt::Debug>(fact: &str, got: T, expected: T) -> Outcome {
    expect(
        got == expected,
        &format!("{fact}, which is {expected:?}"),
        got,
    )
}

fn near(fact: &str, left: i64, expected: Option<i64>) -> Outcome {
    let expected = expected.expect("a span");
    expect(is_near(left, expected), fact, left)
}
