//! `inspect`: shows everything about one lock.

use std::fmt;

use lock_runtime::inspect::{Holder, HolderRef, LockState, Votes, Waiter};
use serde::Serialize;

use crate::args::{Connection, Inspect};
use crate::exit::{Exit, Failure};
use crate::output::{Brief, Form, Plain, Whom, millis, print};

pub(crate) async fn inspect(
    connection: &Connection,
    inspect: Inspect,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let lock = client.inspect(inspect.key.as_str()).await?;
    print(form, &Report::of(&lock))?;
    client.shutdown().await;
    match lock.is_held() {
        true => Ok(Exit::DONE),
        false => Ok(Exit::NEGATIVE),
    }
}

/// A lock, its holders and its waiters.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    key: &'a str,
    held: bool,
    holders: Vec<HolderReport<'a>>,
    more_holders: usize,
    waiters: Vec<WaiterReport<'a>>,
    more_waiters: usize,
    last_token: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    votes: Option<VotesReport>,
}

#[derive(Debug, Serialize)]
struct HolderReport<'a> {
    holder: &'a str,
    kind: &'static str,
    token: Option<u64>,
    /// For a holder without a token: the hash for `revoke --hash`.
    record: Option<String>,
    age_ms: Option<u64>,
    remaining_ms: Option<u64>,
    takes: u32,
}

#[derive(Debug, Serialize)]
struct WaiterReport<'a> {
    waiter: &'a str,
    waiting_ms: u64,
    last_seen_ms: u64,
}

/// The number of nodes in a quorum, of answers, and of nodes that the owner has.
#[derive(Clone, Copy, Debug, Serialize)]
struct VotesReport {
    nodes: usize,
    answered: usize,
    held: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn of(lock: &'a LockState) -> Report<'a> {
        Report {
            key: lock.key.as_str(),
            held: lock.is_held(),
            holders: lock.holders.iter().map(HolderReport::of).collect(),
            more_holders: lock.more_holders,
            waiters: lock.waiters.iter().map(WaiterReport::of).collect(),
            more_waiters: lock.more_waiters,
            last_token: lock.last_token.map(|token| token.get()),
            votes: lock.votes.map(VotesReport::of),
        }
    }
}

impl<'a> HolderReport<'a> {
    fn of(holder: &'a Holder) -> HolderReport<'a> {
        let record = match holder.seen {
            Some(HolderRef::Record(hash)) => Some(hash.to_string()),
            _ => None,
        };
        HolderReport {
            holder: &holder.label,
            kind: holder.kind.as_str(),
            token: holder.token.map(|token| token.get()),
            record,
            age_ms: holder.age.map(millis),
            remaining_ms: holder.remaining.map(millis),
            takes: holder.takes,
        }
    }
}

impl<'a> WaiterReport<'a> {
    fn of(waiter: &'a Waiter) -> WaiterReport<'a> {
        WaiterReport {
            waiter: &waiter.label,
            waiting_ms: millis(waiter.waiting),
            last_seen_ms: millis(waiter.last_seen),
        }
    }
}

impl VotesReport {
    fn of(votes: Votes) -> VotesReport {
        VotesReport {
            nodes: votes.nodes,
            answered: votes.answered,
            held: votes.held,
        }
    }
}

/// Explains a kind of holder, unless its record does.
fn meaning(kind: &str) -> Option<&'static str> {
    match kind {
        "reserved" => Some("its holder is done, and the lock is reserved for its minimum hold"),
        "redisson" => Some("Redisson's record, which has no token"),
        "foreign" => Some(
            "a record of another program, by SET NX PX for instance: it has no token, and callers wait until it is gone",
        ),
        "other-type" => Some(
            "the key has a type that no lock has: every call is refused until the key is deleted or renamed",
        ),
        _ => None,
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.held { "held" } else { "free" };
        write!(f, "lock `{}` is {state}", Plain(self.key))?;
        if let Some(votes) = self.votes {
            let VotesReport {
                nodes,
                answered,
                held,
            } = votes;
            write!(
                f,
                "\n  {held} of {nodes} nodes have this owner; {answered} answered"
            )?;
            if held > 0 && !self.held {
                f.write_str(", and no caller has the lock without a majority")?;
            }
        }
        for holder in &self.holders {
            write!(f, "\n{holder}")?;
        }
        if self.more_holders > 0 {
            write!(f, "\n  and {} more holders", self.more_holders)?;
        }
        for (place, waiter) in (1..).zip(&self.waiters) {
            let WaiterReport {
                waiter,
                waiting_ms,
                last_seen_ms,
            } = waiter;
            let (waiting, seen) = (Brief(Some(*waiting_ms)), Brief(Some(*last_seen_ms)));
            write!(
                f,
                "\n  waiter {place}: {} for {waiting}, last heard from {seen} ago",
                Plain(waiter)
            )?;
        }
        if self.more_waiters > 0 {
            write!(f, "\n  and {} more waiters", self.more_waiters)?;
        }
        match self.last_token {
            Some(token) => write!(f, "\n  last token {token}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for HolderReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  by {}", Whom(self.holder))?;
        if self.takes != 1 {
            write!(f, ", {} permits", self.takes)?;
        }
        if let Some(age) = self.age_ms {
            write!(f, ", for {}", Brief(Some(age)))?;
        }
        match self.remaining_ms {
            Some(rest) => write!(f, ", {} of its lease left", Brief(Some(rest)))?,
            None => f.write_str(
                ", and it never expires: a holder that died keeps it until it is deleted",
            )?,
        }
        match self.token {
            Some(token) => write!(f, ", token {token}")?,
            // The kind explains why the others have none.
            None if self.kind == "exclusive" => f.write_str(", no token")?,
            None => {}
        }
        if let Some(record) = &self.record {
            write!(f, ", hash {record}")?;
        }
        match meaning(self.kind) {
            Some(meaning) => write!(f, "\n    {meaning}"),
            None => Ok(()),
        }
    }
}
