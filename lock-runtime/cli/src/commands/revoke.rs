//! `revoke`: takes a lock from its holder, or all locks of one holder.

mod holder;

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};

use lock_runtime::LockClient;
use lock_runtime::inspect::{Holder, HolderKind, HolderRef, LockState, Revocation, Revoked};
use serde::Serialize;

use super::inspect::Report;
use crate::args::{Connection, Revoke};
use crate::exit::{Exit, Failure};
use crate::output::{Form, escape, print, say};

const WARNING: &str = "\
The old holder may write until it notices. Only a resource that checks tokens is safe from these writes.";

/// The outcome of a revocation.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    revoked: &'a Revoked,
    #[serde(skip)]
    asked: &'a Revoke,
}

impl fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.revoked.fmt(f)?;
        match self.revoked {
            Revoked::Done(receipt) if !receipt.audited && !self.asked.no_audit => {
                f.write_str(", and its outcome is missing from the audit")
            }
            _ => Ok(()),
        }
    }
}

pub(crate) async fn revoke(
    connection: &Connection,
    revoke: Revoke,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let mut revocation = Revocation::new(connection.operator(), &revoke.reason);
    if revoke.no_audit {
        revocation = revocation.without_audit();
    }
    let exit = match (&revoke.key, &revoke.holder) {
        (_, Some(label)) => holder::all(&client, &revoke, label, &revocation, form).await?,
        (Some(key), None) => one(&client, &revoke, key, revocation, form).await?,
        (None, None) => return Err(Failure::new(Exit::USAGE, "give a key, or --holder")),
    };
    client.shutdown().await;
    Ok(exit)
}

async fn one(
    client: &LockClient,
    revoke: &Revoke,
    key: &str,
    revocation: Revocation,
    form: Form,
) -> Result<Exit, Failure> {
    let seen = match revoke.seen() {
        Some(seen) if revoke.yes => seen,
        seen => {
            let lock = client.inspect(key).await?;
            match choose(&lock, seen, form)? {
                Some(seen) => seen,
                None => return Ok(Exit::NEGATIVE),
            }
        }
    };
    let revoked = client.revoke(key, seen, revocation).await?;
    report(&revoked, revoke, form)
}

/// Prints the outcome as JSON; or else the receipt or the lock. Complains if nothing was done.
fn report(revoked: &Revoked, asked: &Revoke, form: Form) -> Result<Exit, Failure> {
    match (form, revoked) {
        (Form::Json, _) | (Form::Text, Revoked::Done(_)) => {
            print(form, &Outcome { revoked, asked })?;
        }
        (Form::Text, Revoked::Changed(lock)) => say(&Report(lock))?,
        (Form::Text, _) => {}
    }
    match revoked {
        Revoked::Done(_) => Ok(Exit::DONE),
        Revoked::Changed(_) => Err(Failure::new(Exit::CHANGED, revoked.to_string())),
        _ => Err(Failure::new(Exit::NEGATIVE, revoked.to_string())),
    }
}

/// Returns whether there is a person to ask.
fn is_attended(form: Form) -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal() && form == Form::Text
}

/// Shows the lock to a person, and asks for its key. Returns `None` if the person changes their mind.
fn choose(
    lock: &LockState,
    seen: Option<HolderRef>,
    form: Form,
) -> Result<Option<HolderRef>, Failure> {
    if !is_attended(form) {
        let message = "without a terminal, --yes and --token (or --hash) are needed: `lockctl inspect` shows them";
        return Err(Failure::new(Exit::USAGE, message));
    }
    let key = lock.key.as_str();
    let mut out = io::stderr();
    writeln!(out, "{}\n", Report(lock))?;
    let holder = match seen {
        Some(seen) => seen,
        None => match lock.holders.first().and_then(|holder| holder.reference) {
            Some(seen) => seen,
            None if lock.is_held() => {
                let message = format!("the record of lock `{key}` cannot be revoked");
                return Err(Failure::new(Exit::NEGATIVE, message));
            }
            None => {
                let message = format!("lock `{key}` is free");
                return Err(Failure::new(Exit::NEGATIVE, message));
            }
        },
    };
    if (lock.holders.first()).is_some_and(|first| is_shared(first, lock.holder_count())) {
        writeln!(out, "All holders of this lock lose it.")?;
    }
    let question = "Type the key to take the lock from its holder: ";
    Ok(is_typed(key, question)?.then_some(holder))
}

/// Warns a person, and returns whether they type the text as it is shown.
fn is_typed(text: &str, question: &str) -> Result<bool, Failure> {
    let mut out = io::stderr();
    write!(out, "{WARNING}\n{question}")?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    let is_same = typed.trim_end_matches(['\n', '\r']) == escape(text).to_string();
    if !is_same {
        writeln!(out, "Nothing was done.")?;
    }
    Ok(is_same)
}

/// Returns whether others may hold the lock by the same record.
fn is_shared(holder: &Holder, holders: usize) -> bool {
    holder.kind == HolderKind::Share || holders > 1
}

impl Revoke {
    /// The holder as the operator saw it.
    fn seen(&self) -> Option<HolderRef> {
        let token = self.token.map(HolderRef::Token);
        token.or(self.hash.map(HolderRef::Record))
    }
}
