//! The decisions of one owner: answers, messages and time go in, commands and a verdict come out.

use std::cmp::Reverse;

use super::mistake::Mistake;
use super::records::{Count, Owner, Ticks, Token};
use super::scripts::{Answer, Command, Proposal, token_of};

/// What an owner knows of each node, and what it does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ballot {
    pub(super) nodes: Vec<Place>,
    /// The place in the order of all waiters.
    stamp: Token,
    ttl: Ticks,
    /// How long a node gives nothing after it lost data.
    delay: Ticks,
    /// The largest token of a node.
    largest: Token,
    pub(super) phase: Phase,
}

/// How far an owner has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Acquires,
    /// It has had a majority with this token.
    Holds(Token),
    Ended,
}

/// An owner at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) standing: Standing,
    /// The command that is not answered yet, and when it was sent.
    pub(super) sent: Option<(Command, Ticks)>,
    /// The command in `sent` was sent while the owner had a node.
    looks: bool,
    /// A message came.
    pushed: bool,
    /// Tokens up to this one do not count: an unanswered `cede` named it.
    void: Token,
}

/// What the last answer of a node said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Standing {
    /// Nothing, or nothing that still counts.
    Unknown,
    /// The owner has K. The vote counts until a ttl after `sent_at`.
    Held { token: Token, sent_at: Ticks },
    /// The node does not vote yet. It had waited for `count.waited` at `at`.
    Early { count: Count, at: Ticks },
    /// The node has said that it votes.
    Votes,
    /// Another owner has K. `is_fresh`: the request was sent while this owner had a node.
    Waiting {
        holder: Option<Owner>,
        is_fresh: bool,
    },
    /// A renewal found K absent.
    Absent,
    /// A renewal found K with another owner.
    Anothers,
}

/// What the nodes amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// The owner has no majority.
    Open,
    /// The votes suffice, and their tokens differ: the largest is to be written back.
    Unequal(Token),
    /// The owner has the lock until `deadline`.
    Has { token: Token, deadline: Ticks },
}

impl Ballot {
    pub(super) fn new(nodes: usize, stamp: Token, (ttl, delay): (Ticks, Ticks)) -> Ballot {
        let place = Place {
            standing: Standing::Unknown,
            sent: None,
            looks: false,
            pushed: false,
            void: 0,
        };
        Ballot {
            nodes: vec![place; nodes],
            stamp,
            ttl,
            delay,
            largest: 0,
            phase: Phase::Acquires,
        }
    }

    fn majority(&self, mistake: Option<Mistake>) -> usize {
        let half = self.nodes.len() / 2;
        if mistake == Some(Mistake::HalfIsEnough) {
            half
        } else {
            half + 1
        }
    }

    /// The answer to the command under way at `node`.
    pub(super) fn answered(
        &mut self,
        node: usize,
        answer: Answer,
        now: Ticks,
        mistake: Option<Mistake>,
    ) {
        let place = &mut self.nodes[node];
        let Some((command, sent_at)) = place.sent.take() else {
            return;
        };
        // A `cede` that was kept leaves the vote as it was. It raises no expiry.
        let sent_at = match (command, place.standing) {
            (Command::Cede { .. }, Standing::Held { sent_at, .. }) => sent_at,
            _ => sent_at,
        };
        let sent_at = if mistake == Some(Mistake::DeadlineFromReply) {
            now
        } else {
            sent_at
        };
        let voids = mistake != Some(Mistake::VoidTokenCounts);
        place.standing = match answer {
            // The claim that the unanswered `cede` named may still go.
            Answer::Held { token } if voids && token <= place.void => Standing::Unknown,
            Answer::Held { token } => {
                self.largest = self.largest.max(token);
                Standing::Held { token, sent_at }
            }
            Answer::Marked(Some(count)) => Standing::Early { count, at: now },
            Answer::Marked(None) => Standing::Votes,
            Answer::Waiting { holder, .. } => Standing::Waiting {
                holder,
                is_fresh: place.looks,
            },
            Answer::Absent => Standing::Absent,
            Answer::Anothers => Standing::Anothers,
            Answer::Freed
            | Answer::Contended
            | Answer::HandedOn
            | Answer::Left
            | Answer::Nothing
            | Answer::Early { .. } => Standing::Unknown,
        };
        place.looks = false;
        if matches!(command, Command::Cede { .. }) {
            // The next decision to give way needs a new look at the nodes of other owners.
            for place in &mut self.nodes {
                if let Standing::Waiting { is_fresh, .. } = &mut place.standing {
                    *is_fresh = false;
                }
            }
        }
    }

    /// The connection to `node` broke: the command under way may never arrive, or arrive late.
    pub(super) fn unanswered(&mut self, node: usize) {
        let place = &mut self.nodes[node];
        place.looks = false;
        place.pushed = false;
        match place.sent.take() {
            Some((Command::Cede { token, .. }, _)) => {
                place.void = place.void.max(token);
                place.standing = Standing::Unknown;
            }
            Some((Command::Acquire { .. } | Command::Mark { .. }, _))
                if !matches!(place.standing, Standing::Held { .. }) =>
            {
                place.standing = Standing::Unknown;
            }
            _ => {}
        }
    }

    /// A message of `node` names this owner.
    pub(super) fn notified(&mut self, node: usize) {
        self.nodes[node].pushed = true;
    }

    /// The command to send to `node` now, if any.
    pub(super) fn next(
        &self,
        node: usize,
        now: Ticks,
        mistake: Option<Mistake>,
    ) -> Option<Command> {
        let place = &self.nodes[node];
        if place.sent.is_some() {
            return None;
        }
        match self.phase {
            Phase::Acquires => self.next_of_waiter(place, now, mistake),
            Phase::Holds(token) => {
                let may_write = mistake == Some(Mistake::LostHolderRecreates)
                    || self.has_majority(now, mistake);
                let writes = place.standing == Standing::Absent && may_write;
                writes.then_some(Command::Hold {
                    ttl: self.ttl,
                    token,
                })
            }
            Phase::Ended => None,
        }
    }

    fn next_of_waiter(
        &self,
        place: &Place,
        now: Ticks,
        mistake: Option<Mistake>,
    ) -> Option<Command> {
        let is_split = self.is_split(now);
        match place.standing {
            Standing::Held { token, .. }
                if is_split && (place.pushed || self.must_give_way(now)) =>
            {
                Some(Command::Cede {
                    token,
                    stamp: self.stamp,
                })
            }
            Standing::Held { token, .. } => {
                let is_less = matches!(
                    self.verdict(now, mistake),
                    Verdict::Unequal(largest) if token < largest
                );
                is_less.then(|| self.acquire(place, mistake))
            }
            Standing::Early { count, at } => {
                let is_over = count.waited + (now - at) >= self.delay;
                is_over.then(|| mark(count, now - at))
            }
            Standing::Votes => Some(self.acquire(place, mistake)),
            Standing::Waiting { .. } => place.pushed.then(|| self.acquire(place, mistake)),
            Standing::Unknown | Standing::Absent | Standing::Anothers => None,
        }
    }

    /// The request of a first round, of a poll or of a repetition.
    pub(super) fn poll(
        &self,
        node: usize,
        now: Ticks,
        mistake: Option<Mistake>,
    ) -> Option<Command> {
        let place = &self.nodes[node];
        let may_ask = place.sent.is_none() && self.phase == Phase::Acquires;
        may_ask.then(|| match place.standing {
            Standing::Early { count, at } => mark(count, now - at),
            _ => self.acquire(place, mistake),
        })
    }

    fn acquire(&self, place: &Place, mistake: Option<Mistake>) -> Command {
        let voids = mistake != Some(Mistake::VoidTokenCounts);
        let void = if voids { place.void } else { 0 };
        let known = if void > 0 {
            self.largest.max(void + 1)
        } else {
            self.largest
        };
        Command::Acquire {
            ttl: self.ttl,
            queues: true,
            stamp: self.stamp,
            proposal: if known == 0 {
                Proposal::Guess(self.stamp)
            } else {
                Proposal::Known(known)
            },
        }
    }

    /// `command` is on its way to `node`.
    pub(super) fn sent(&mut self, node: usize, command: Command, now: Ticks) {
        let looks = self.has_a_node(now);
        let place = &mut self.nodes[node];
        place.sent = Some((command, now));
        place.looks = looks;
        place.pushed = false;
    }

    /// Ends the owner: no acquire, cede or hold follows.
    pub(super) fn end(&mut self, now: Ticks) -> Command {
        self.phase = Phase::Ended;
        for place in &mut self.nodes {
            *place = Place {
                standing: Standing::Unknown,
                sent: None,
                looks: false,
                pushed: false,
                void: 0,
            };
        }
        self.largest = 0;
        Command::End {
            proposal: token_of(now),
        }
    }

    /// The renewal of a holder.
    pub(super) fn renewal(&self, node: usize) -> Option<Command> {
        let is_idle = self.nodes[node].sent.is_none();
        is_idle.then_some(Command::Renew { ttl: self.ttl })
    }

    /// What the votes amount to.
    pub(super) fn verdict(&self, now: Ticks, mistake: Option<Mistake>) -> Verdict {
        let votes = self.votes(now, mistake);
        let majority = self.majority(mistake);
        if votes.len() < majority {
            return Verdict::Open;
        }
        let deadline = self.deadline(&votes, majority);
        let (first, largest) = (votes[0].0, votes.iter().map(|vote| vote.0).max());
        let largest = largest.expect("a majority is one vote at least");
        match mistake {
            Some(Mistake::FirstToken) => {
                return Verdict::Has {
                    token: first,
                    deadline,
                };
            }
            Some(Mistake::NoWriteBack) => {
                return Verdict::Has {
                    token: largest,
                    deadline,
                };
            }
            _ => {}
        }
        let equal = votes.iter().filter(|vote| vote.0 == largest).count();
        if equal >= majority {
            Verdict::Has {
                token: largest,
                deadline,
            }
        } else {
            Verdict::Unequal(largest)
        }
    }

    /// Whether the owner may rely on the lock that it has had.
    pub(super) fn is_valid(&self, now: Ticks, mistake: Option<Mistake>) -> bool {
        matches!(self.phase, Phase::Holds(_)) && self.has_majority(now, mistake)
    }

    fn has_majority(&self, now: Ticks, mistake: Option<Mistake>) -> bool {
        self.votes(now, mistake).len() >= self.majority(mistake)
    }

    /// The token and the request's time of each vote.
    fn votes(&self, now: Ticks, mistake: Option<Mistake>) -> Vec<(Token, Ticks)> {
        let votes = self.nodes.iter().filter_map(|place| match place.standing {
            Standing::Held { token, sent_at } => {
                let goes = matches!(place.sent, Some((Command::Cede { .. }, _)))
                    && mistake != Some(Mistake::CededVoteCounts);
                (!goes && sent_at + self.ttl > now).then_some((token, sent_at))
            }
            _ => None,
        });
        votes.collect()
    }

    /// The time at which less than a majority is left.
    fn deadline(&self, votes: &[(Token, Ticks)], majority: usize) -> Ticks {
        let mut times: Vec<Ticks> = votes.iter().map(|vote| vote.1).collect();
        times.sort_unstable_by_key(|&time| Reverse(time));
        times[majority - 1] + self.ttl
    }

    /// An expired vote is none, whether or not its node says so.
    fn is_held(&self, place: &Place, now: Ticks) -> bool {
        matches!(place.standing, Standing::Held { sent_at, .. } if sent_at + self.ttl > now)
    }

    fn has_a_node(&self, now: Ticks) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|place| self.is_held(place, now))
    }

    /// The owner has a node, and another owner has one, too.
    fn is_split(&self, now: Ticks) -> bool {
        let mut nodes = self.nodes.iter();
        self.has_a_node(now)
            && nodes.any(|place| {
                matches!(
                    place.standing,
                    Standing::Waiting {
                        holder: Some(_),
                        ..
                    }
                )
            })
    }

    /// Each node has answered after this owner had its first, and no owner has a majority.
    fn must_give_way(&self, now: Ticks) -> bool {
        let all_known = self.nodes.iter().all(|place| {
            place.sent.is_none()
                && !matches!(
                    place.standing,
                    Standing::Waiting {
                        is_fresh: false,
                        ..
                    }
                )
        });
        let majority = self.majority(None);
        let holds = |owner: Option<Owner>| {
            let nodes = self.nodes.iter();
            let of_owner = nodes.filter(|place| match place.standing {
                Standing::Held { .. } => owner.is_none() && self.is_held(place, now),
                Standing::Waiting { holder, .. } => holder.is_some() && holder == owner,
                _ => false,
            });
            of_owner.count()
        };
        let others = self.nodes.iter().filter_map(|place| match place.standing {
            Standing::Waiting { holder, .. } => holder,
            _ => None,
        });
        all_known && holds(None) < majority && others.map(Some).all(|owner| holds(owner) < majority)
    }
}

/// A node that does not vote yet is told for how long it has waited.
fn mark(count: Count, since: Ticks) -> Command {
    let waited = count.waited + since;
    Command::Mark {
        new: 0,
        known: Some(Count { waited, ..count }),
    }
}
