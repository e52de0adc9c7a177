//! The steps of a sequence.

use std::fmt::Debug;

use harness::Answer as Raw;
use lock_model::quorum::records::{Count, Ticks, Token};
use lock_model::quorum::scripts::{Answer, Command, Proposal};
use proptest::bool::weighted;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;
use redis::RedisResult;

use super::Tally;
use super::node::{HALF_SECOND, Modelled, near};
use crate::scripts::quorum::node::{Ask, Reply};
use crate::scripts::random::draw::span;
use crate::scripts::random::records::FIRST_TOKEN;
use crate::scripts::random::stage::agree;
use crate::scripts::random::step::Span;

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Acquire {
        who: Who,
        ttl: Ticks,
        queues: bool,
        stamp: Away,
        proposal: Proposed,
        is_known: bool,
    },
    Yield(Who, Proposed, Away),
    Hold(Who, Ticks, Proposed),
    Renew(Who, Ticks),
    Release(Who),
    End(Who, Proposed),
    /// By a client that knows the count this many names ago, and has measured it for this long.
    Mark(u8, Ticks),
    // Effects from outside.
    TimePasses(Span),
    ClockGoesBack(Span),
    HeartIsLost(Who),
    Restart,
    LoseMarker,
    LoseLock,
    LoseQueue,
    Flush,
}

/// An owner; the letter is used if there is no such holder or waiter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    Any(char),
    Holder(char),
    Waiter(char, usize),
}

/// A time this many half seconds away, but apart from the times of steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Away(i64);

/// A token that a client names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Proposed {
    Nothing,
    /// The token of K, or of F, plus this much.
    Last(Token),
    /// The token of a time, plus this much.
    Away(Away, Token),
}

impl Step {
    pub(super) fn any() -> impl Strategy<Value = Step> {
        prop_oneof![
            18 => (who(), ttl(), weighted(0.85), stamp(), proposed(), weighted(0.5)).prop_map(
                |(who, ttl, queues, stamp, proposal, is_known)| Step::Acquire {
                    who, ttl, queues, stamp, proposal, is_known,
                }
            ),
            5 => (mostly_holder(), last_token(), stamp()).prop_map(|(who, token, stamp)| Step::Yield(who, token, stamp)),
            3 => (who(), ttl(), proposed()).prop_map(|(who, ttl, token)| Step::Hold(who, ttl, token)),
            1 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            2 => who().prop_map(Step::Release),
            5 => (mostly_holder(), proposed()).prop_map(|(who, token)| Step::End(who, token)),
            5 => (select(&[0, 0, 0, 1, 2][..]), select(&[0, 1_500, 10_101, 10_102, 12_000][..]))
                .prop_map(|(ago, waited)| Step::Mark(ago, waited)),
            8 => span(&[1, 1, 1, 2, 3, 5, 8, 14]).prop_map(Step::TimePasses),
            1 => span(&[1, 2, 12]).prop_map(Step::ClockGoesBack),
            3 => who().prop_map(Step::HeartIsLost),
            1 => Just(Step::Restart),
            1 => Just(Step::LoseMarker),
            2 => Just(Step::LoseLock),
            1 => prop_oneof![1 => Just(Step::LoseQueue), 2 => Just(Step::Flush)],
        ]
    }

    pub(super) fn play(self, node: &mut Modelled<'_>, tally: &mut Tally) -> Result<(), String> {
        node.pushed.clear();
        match self {
            Step::TimePasses(span) => node.pass(span.forward()),
            Step::ClockGoesBack(span) => node.back(span.back()),
            Step::HeartIsLost(who) => node.lose_heart(who.is(node)),
            Step::Restart => node.restart(),
            Step::LoseMarker => node.lose_marker(),
            Step::LoseLock => node.lose_lock(),
            Step::LoseQueue => node.lose_queue(),
            Step::Flush => node.flush(),
            Step::Mark(ago, waited) => return mark(node, ago, waited),
            command => return command.command(node, tally),
        }
        Ok(())
    }

    fn command(self, node: &mut Modelled<'_>, tally: &mut Tally) -> Result<(), String> {
        let (Step::Acquire { who, .. }
        | Step::Yield(who, ..)
        | Step::Hold(who, ..)
        | Step::Renew(who, _)
        | Step::Release(who)
        | Step::End(who, _)) = self
        else {
            unreachable!("{self:?} is no command");
        };
        let who = who.is(node);
        let was_dead = node.is_dead(who);
        let (command, seen) = self.send(who, node);
        let answer = node.run(who, command);
        let name = format!("{} {}", word(command), word(answer));
        *tally.entry(name).or_default() += 1;
        node.compare()?;
        match seen {
            Seen::Reply(reply) => node.answered(who, reply, answer),
            Seen::Release(code) => node.answered_release(code, answer),
            Seen::End(code) => node.answered_end(was_dead, code, answer),
            Seen::Renewal(reply) => match (reply.map_err(|error| error.to_string())?, answer) {
                (Some(text), Answer::Held { token, .. }) => {
                    agree("renewal", Raw::held(&text).token(), token)
                }
                (None, Answer::Absent | Answer::Anothers) => Ok(()),
                (reply, answer) => Err(format!("renewal: {reply:?}, the model {answer:?}")),
            },
        }
    }

    /// Sends the command to the server. Returns it for the model, too.
    fn send(self, who: char, node: &mut Modelled<'_>) -> (Command, Seen) {
        match self {
            Step::Acquire {
                ttl,
                queues,
                stamp,
                proposal,
                is_known,
                ..
            } => {
                let token = proposal.token(node);
                let sign = if is_known { "=" } else { "" };
                let stamp = stamp.micros(node.now);
                let ask = Ask::by(stamp - node.node.zero)
                    .ttl(if queues { ttl } else { -ttl })
                    .proposing(format!("{sign}{token}"));
                let proposal = if is_known {
                    Proposal::Known(token)
                } else {
                    Proposal::Guess(token)
                };
                let command = Command::Acquire {
                    ttl,
                    queues,
                    stamp,
                    proposal,
                };
                (command, Seen::Reply(node.node.ask(who, &ask)))
            }
            Step::Yield(_, token, stamp) => {
                let (token, stamp) = (token.token(node), stamp.micros(node.now));
                let reply = node.node.yielding(who, token, stamp - node.node.zero);
                (Command::Yield { token, stamp }, Seen::Reply(reply))
            }
            Step::Hold(_, ttl, token) => {
                // A holder has a token.
                let token = match token.token(node) {
                    ..FIRST_TOKEN => Away(0).micros(node.now),
                    token => token,
                };
                let reply = node.node.hold(who, ttl, token);
                (Command::Hold { ttl, token }, Seen::Reply(reply))
            }
            Step::Renew(_, ttl) => {
                let reply = node.node.lock.renew(who, ttl);
                (Command::Renew { ttl }, Seen::Renewal(reply))
            }
            Step::Release(_) => {
                let code = node.node.lock.release(who);
                (Command::Release, Seen::Release(code))
            }
            Step::End(_, proposal) => {
                let proposal = proposal.token(node);
                let code = node.node.end(who, proposal);
                (Command::End { proposal }, Seen::End(code))
            }
            outside => unreachable!("{outside:?} is no command"),
        }
    }
}

/// The server's answer.
enum Seen {
    Reply(RedisResult<Reply>),
    Renewal(RedisResult<Option<String>>),
    Release(RedisResult<i64>),
    End(RedisResult<i64>),
}

fn mark(node: &mut Modelled<'_>, ago: u8, waited: Ticks) -> Result<(), String> {
    node.counts += 1;
    let new = node.counts;
    let marker = node.records.marker.and_then(|marker| marker.count);
    let name = marker.map_or(0, |count| count.name).saturating_sub(ago);
    let known = Count { name, waited };
    let marked = node
        .node
        .mark(&count_named(new), (&count_named(name)[..], waited));
    let marked = marked.map_err(|error| error.to_string())?;
    let known = Some(known);
    let Answer::Marked(count) = node.run('A', Command::Mark { new, known }) else {
        return Err("the model has no mark".to_owned());
    };
    near("time", marked.now / 1_000, node.now)?;
    let left = count.map_or(0, |count| node.rules.delay - count.waited);
    agree("early", marked.left, left)?;
    let count = count.map(|count| (count_named(count.name), count.waited));
    agree("count", marked.count, count)
}

pub(super) fn count_named(number: u8) -> String {
    format!("count-{number}")
}

/// The name of a variant.
fn word(variant: impl Debug) -> String {
    let text = format!("{variant:?}");
    text.split([' ', '(']).next().unwrap_or("").to_owned()
}

impl Who {
    fn is(self, node: &Modelled<'_>) -> char {
        match self {
            Who::Any(who) => who,
            Who::Holder(who) => node.holder().unwrap_or(who),
            Who::Waiter(who, place) => node.waiter(place).unwrap_or(who),
        }
    }
}

impl Away {
    /// The time in µs: 25 ms before the next half second. Steps drift from a half second by 5 ms each, and must not meet it.
    fn micros(self, now: Ticks) -> i64 {
        let middle = (now / HALF_SECOND + self.0) * HALF_SECOND + 475;
        middle * 1_000
    }
}

impl Proposed {
    fn token(self, node: &Modelled<'_>) -> Token {
        match self {
            Proposed::Nothing => 0,
            Proposed::Last(more) => node.token() + more,
            Proposed::Away(away, more) => away.micros(node.now) + more,
        }
    }
}

fn who() -> impl Strategy<Value = Who> {
    // Half of the letters hold or queue already, so that sequences reach the deeper branches.
    prop_oneof![
        2 => letter().prop_map(Who::Any),
        1 => letter().prop_map(Who::Holder),
        1 => (letter(), 0..3_usize).prop_map(|(who, place)| Who::Waiter(who, place)),
    ]
}

fn mostly_holder() -> impl Strategy<Value = Who> {
    prop_oneof![
        3 => letter().prop_map(Who::Holder),
        1 => who(),
    ]
}

fn letter() -> impl Strategy<Value = char> {
    select(&['A', 'B', 'C', 'D', 'E', 'F'][..])
}

fn ttl() -> impl Strategy<Value = Ticks> {
    select(&[500, 2_000, 6_000, 9_000][..])
}

/// Often equal, since entries with the same stamp have an order, too.
fn stamp() -> impl Strategy<Value = Away> {
    prop_oneof![
        12 => select(&[-6, -2, -1, 0, 0, 1][..]).prop_map(Away),
        // Too far ahead, within a day, and more than a day ago.
        4 => select(&[2, 12, -2 * 86_399, -2 * 86_401, -2 * 86_401][..]).prop_map(Away),
    ]
}

fn proposed() -> impl Strategy<Value = Proposed> {
    prop_oneof![
        4 => Just(Proposed::Nothing),
        4 => (0..2_i64).prop_map(Proposed::Last),
        // The last is above the delay.
        9 => (select(&[-2, -1, 0, 0, 1, 1, 2, 6, 22][..]), 0..3_i64)
            .prop_map(|(half_seconds, more)| Proposed::Away(Away(half_seconds), more)),
    ]
}

/// Usually the token of K.
fn last_token() -> impl Strategy<Value = Proposed> {
    prop_oneof![
        4 => Just(Proposed::Last(0)),
        1 => proposed(),
    ]
}
