//! `inspect`: shows everything about one lock.

use std::fmt;

use lock_runtime::inspect::{Holder, HolderKind, HolderRef, LockState};
use serde::Serialize;

use crate::args::{Connection, Inspect};
use crate::exit::{Exit, Failure};
use crate::output::{Brief, Form, Whom, escape, print};

pub(crate) async fn inspect(
    connection: &Connection,
    inspect: Inspect,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let lock = client.inspect(inspect.key.as_str()).await?;
    print(form, &Report(&lock))?;
    client.shutdown().await;
    if lock.is_held() {
        Ok(Exit::DONE)
    } else {
        Ok(Exit::NEGATIVE)
    }
}

/// A lock, its holders and its waiters.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Report<'a>(pub(crate) &'a LockState);

/// Explains a kind of holder, unless its record does.
fn meaning(kind: HolderKind) -> Option<&'static str> {
    match kind {
        HolderKind::Reserved => {
            Some("its holder is done, and the lock is reserved for its minimum hold")
        }
        HolderKind::Redisson => Some("Redisson's record, which has no token"),
        HolderKind::Foreign => Some(
            "a record of another program, by SET NX PX for instance: it has no token, and callers wait until it is gone",
        ),
        HolderKind::OtherType => Some(
            "the key has a type that no lock has: every call is refused until the key is deleted or renamed",
        ),
        _ => None,
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lock = self.0;
        let state = if lock.is_held() { "held" } else { "free" };
        write!(f, "lock `{}` is {state}", escape(lock.key.as_str()))?;
        write_counts(f, lock)?;
        if let Some(votes) = lock.votes {
            write!(f, "\n  {votes}")?;
            if votes.agreed > 0 && !lock.is_held() {
                f.write_str(", and no caller has the lock without a majority")?;
            }
        }
        for holder in &lock.holders {
            write_holder(f, holder)?;
        }
        if lock.more_holders > 0 {
            write!(f, "\n  and {} more holders", lock.more_holders)?;
        }
        for (place, waiter) in (1..).zip(&lock.waiters) {
            let label = escape(&waiter.label);
            let [waiting, seen] =
                [waiter.waiting, waiter.last_seen].map(|time| Brief::of(Some(time)));
            write!(
                f,
                "\n  waiter {place}: {label} for {waiting}, last heard from {seen} ago"
            )?;
        }
        if lock.more_waiters > 0 {
            write!(f, "\n  and {} more waiters", lock.more_waiters)?;
        }
        match lock.last_token {
            Some(token) => write!(f, "\n  last token {token}"),
            None => Ok(()),
        }
    }
}

/// Writes how many hold the lock together, and how many wait.
fn write_counts(f: &mut fmt::Formatter<'_>, lock: &LockState) -> fmt::Result {
    if lock.holder_count() > 1 {
        write!(f, " by {}", lock.holder_count())?;
        let permits: u64 = lock.holders.iter().map(|of| u64::from(of.permits)).sum();
        if lock.more_holders == 0 && permits > lock.holder_count() as u64 {
            write!(f, " with {permits} permits")?;
        }
    }
    let Some(longest) = lock.longest_wait() else {
        return Ok(());
    };
    let longest = Brief::of(Some(longest));
    match lock.waiter_count() {
        1 => write!(f, "; 1 waits, for {longest}"),
        count => write!(f, "; {count} wait, the first for {longest}"),
    }
}

/// The holder in words. Those that share a lock have no label on a server.
fn name_of(holder: &Holder) -> String {
    match (&*holder.label, holder.kind) {
        ("", HolderKind::Share) => "a reader, or a caller with permits".to_owned(),
        (label, _) => Whom(label).to_string(),
    }
}

fn write_holder(f: &mut fmt::Formatter<'_>, holder: &Holder) -> fmt::Result {
    write!(f, "\n  by {}", name_of(holder))?;
    if holder.permits != 1 {
        write!(f, ", {} permits", holder.permits)?;
    }
    if holder.age.is_some() {
        write!(f, ", for {}", Brief::of(holder.age))?;
    }
    match holder.remaining {
        Some(rest) => write!(f, ", {} of its lease left", Brief::of(Some(rest)))?,
        None => {
            f.write_str(", and it never expires: a holder that died keeps it until it is deleted")?
        }
    }
    match holder.token {
        Some(token) => write!(f, ", token {token}")?,
        // The kind explains why the others have none.
        None if holder.kind == HolderKind::Exclusive => f.write_str(", no token")?,
        None => {}
    }
    if let Some(HolderRef::Record(hash)) = holder.reference {
        write!(f, ", hash {hash}")?;
    }
    match meaning(holder.kind) {
        Some(meaning) => write!(f, "\n    {meaning}"),
        None => Ok(()),
    }
}
