//! The steps of a sequence.

use std::fmt::Debug;

use harness::Answer as Raw;
use lock_model::quorum::records::{Count, Ticks, Token};
use lock_model::quorum::scripts::{Answer, Command, Proposal, token_of};
use proptest::bool::weighted;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;
use redis::RedisResult;

use super::Tally;
use super::node::Modelled;
use super::scale;
use crate::scripts::quorum::SECOND;
use crate::scripts::quorum::node::{Ask, Reply};
use crate::scripts::random::stage::agree;

/// One step; leases are in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Acquire {
        who: Who,
        ttl: Ticks,
        queues: bool,
        stamp: Stamp,
        proposal: Proposed,
        is_known: bool,
    },
    Yield(Who, Proposed, Stamp),
    Hold(Who, Ticks, Proposed),
    Renew(Who, Ticks),
    Release(Who),
    End(Who, Proposed),
    /// By a client that knows the count this many names ago, and has measured it for this long.
    Mark(u8, Ticks),
    // Effects from outside.
    TimePasses(Ticks),
    ClockGoesBack(Ticks),
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

#[derive(Debug, Clone, Copy)]
pub(super) enum Stamp {
    /// This many ticks from now.
    Away(i16),
    /// More than a day ago.
    LongAgo,
}

/// A token that a client names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Proposed {
    Nothing,
    /// The token of K, or of F, plus this much.
    Last(Token),
    /// The first token of the tick this far away, plus this much.
    Away(i16, Token),
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
            3 => (0..3_u8, select(&[0, 5, 32, 33, 40][..])).prop_map(|(ago, waited)| Step::Mark(ago, waited)),
            8 => select(&[1, 1, 1, 2, 3, 5, 8, 21][..]).prop_map(Step::TimePasses),
            1 => select(&[1, 3, 20][..]).prop_map(Step::ClockGoesBack),
            1 => Just(Step::Restart),
            1 => Just(Step::LoseMarker),
            2 => Just(Step::LoseLock),
            1 => prop_oneof![1 => Just(Step::LoseQueue), 2 => Just(Step::Flush)],
        ]
    }

    pub(super) fn play(self, node: &mut Modelled<'_>, tally: &mut Tally) -> Result<(), String> {
        node.pushed.clear();
        match self {
            Step::TimePasses(ticks) => node.pass(ticks),
            Step::ClockGoesBack(ticks) => node.back(ticks),
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
        node.make_room_for_tokens();
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
                    let seen = Raw::held(&text).token();
                    node.scale.check_token("renewal", seen, token)
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
                let text = match token {
                    0 => format!("{sign}0"),
                    token => format!("{sign}{}", node.scale.token(token)),
                };
                let ms = scale::ttl(ttl);
                let ask = Ask::by(stamp.sent(node))
                    .ttl(if queues { ms } else { -ms })
                    .proposing(text);
                let stamp = stamp.of_new_entry(node);
                let proposal = match is_known {
                    true => Proposal::Known(token),
                    false => Proposal::Guess(token),
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
                let (token, sent) = (token.token(node), stamp.sent(node));
                let reply = node.node.yielding(who, node.scale.token(token), sent);
                let stamp = stamp.of_yield(node);
                (Command::Yield { token, stamp }, Seen::Reply(reply))
            }
            Step::Hold(_, ttl, token) => {
                // A holder has a token.
                let token = token.token(node).max(1);
                let reply = node
                    .node
                    .hold(who, scale::ttl(ttl), node.scale.token(token));
                (Command::Hold { ttl, token }, Seen::Reply(reply))
            }
            Step::Renew(_, ttl) => {
                let reply = node.node.lock.renew(who, scale::ttl(ttl));
                (Command::Renew { ttl }, Seen::Renewal(reply))
            }
            Step::Release(_) => {
                let code = node.node.lock.release(who);
                (Command::Release, Seen::Release(code))
            }
            Step::End(_, proposal) => {
                let proposal = proposal.token(node);
                let sent = match proposal {
                    0 => 0,
                    token => node.scale.token(token),
                };
                let code = node.node.end(who, sent);
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
    let sent = (&scale::count(name)[..], scale::waited(waited));
    let marked = node.node.mark(&scale::count(new), sent);
    let marked = marked.map_err(|error| error.to_string())?;
    let known = Some(known);
    let Answer::Marked(count) = node.run('A', Command::Mark { new, known }) else {
        return Err("the model has no mark".to_owned());
    };
    node.scale.check("time", marked.now, node.now)?;
    let left = count.map_or(0, |count| node.rules.delay - count.waited);
    agree("early", scale::ticks(marked.left), left)?;
    let count = count.map(|count| (scale::count(count.name), scale::waited(count.waited)));
    agree("count", marked.count, count)
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

impl Stamp {
    /// The stamp that is sent, from the node's zero.
    fn sent(self, node: &Modelled<'_>) -> i64 {
        let micros = match self {
            Stamp::Away(ticks) => node.scale.stamp(away(node.now, ticks)),
            Stamp::LongAgo => node.scale.micros(0) - 86_401 * SECOND,
        };
        micros - node.node.zero
    }

    /// What the script makes of it: a stamp that is far off becomes the time.
    fn of_new_entry(self, node: &Modelled<'_>) -> Token {
        match self {
            Stamp::LongAgo => token_of(node.now),
            stamp => stamp.of_yield(node),
        }
    }

    /// The same, but a stamp of long ago is kept.
    fn of_yield(self, node: &Modelled<'_>) -> Token {
        match self {
            Stamp::LongAgo => 0,
            Stamp::Away(ticks) => {
                let stamp = away(node.now, ticks);
                let is_ahead = stamp > token_of(node.now) + node.rules.ahead;
                if is_ahead { token_of(node.now) } else { stamp }
            }
        }
    }
}

/// A stamp within the tick this far away. It differs from the tick itself, which is the time.
fn away(now: Ticks, ticks: i16) -> Token {
    scale::away(now, ticks) + 2
}

impl Proposed {
    fn token(self, node: &Modelled<'_>) -> Token {
        match self {
            Proposed::Nothing => 0,
            Proposed::Last(more) => node.token() + more,
            Proposed::Away(ticks, more) => {
                let token = scale::away(node.now, ticks) + more;
                token.min(scale::LAST_PROPOSAL)
            }
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
    select(&[2, 7, 20, 30][..])
}

/// Often equal, since entries with the same stamp have an order, too.
fn stamp() -> impl Strategy<Value = Stamp> {
    prop_oneof![
        12 => select(&[-9, -3, -1, 0, 0, 1, 3][..]).prop_map(Stamp::Away),
        1 => select(&[4, 20][..]).prop_map(Stamp::Away),
        1 => Just(Stamp::LongAgo),
    ]
}

fn proposed() -> impl Strategy<Value = Proposed> {
    prop_oneof![
        4 => Just(Proposed::Nothing),
        4 => (0..2_u16).prop_map(Proposed::Last),
        8 => (select(&[-2, 0, 1, 2, 3, 4, 9][..]), 0..3_u16)
            .prop_map(|(ticks, more)| Proposed::Away(ticks, more)),
        // Above the delay.
        1 => Just(Proposed::Away(34, 0)),
    ]
}

/// Usually the token of K.
fn last_token() -> impl Strategy<Value = Proposed> {
    prop_oneof![
        4 => Just(Proposed::Last(0)),
        1 => proposed(),
    ]
}
