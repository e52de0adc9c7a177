//! `revoke`: takes a lock from its holder.

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};

use lock_runtime::FencingToken;
use lock_runtime::inspect::{
    HolderKind, LockState, Receipt, RecordHash, Revocation, Revoked, Seen,
};
use serde::Serialize;

use super::inspect::Report;
use crate::args::{Connection, Revoke};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::{Form, Plain, print};

const WARNING: &str = "\
The old holder may write until it notices. Only a resource that checks tokens is safe from that.";

/// What was done.
#[derive(Debug, Serialize)]
struct Done<'a> {
    key: &'a str,
    outcome: &'static str,
    operation: &'a str,
    former_holder: &'a str,
    audited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<usize>,
}

impl fmt::Display for Done<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, former) = (Plain(self.key), Plain(self.former_holder));
        write!(f, "took lock `{key}` from {former}: ")?;
        f.write_str(match self.outcome {
            "handed_on" => "a waiter has it now",
            _ => "it is free",
        })?;
        if let Some(nodes) = self.nodes {
            write!(f, " ({nodes} nodes)")?;
        }
        write!(f, "\noperation {}", self.operation)?;
        match self.audited {
            true => Ok(()),
            false => f.write_str(", whose outcome is not in the audit"),
        }
    }
}

pub(crate) async fn revoke(
    connection: &Connection,
    revoke: Revoke,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&operator::name()).await?;
    let key = revoke.key.as_str();
    let seen = match revoke.seen()? {
        Some(seen) if revoke.yes => seen,
        seen => {
            let lock = client.inspect(key).await?;
            match choose(&lock, seen, form)? {
                Some(seen) => seen,
                None => return Ok(Exit::NEGATIVE),
            }
        }
    };
    let mut revocation = Revocation::new(operator::name(), &revoke.reason);
    if revoke.no_audit {
        revocation = revocation.without_audit();
    }
    let revoked = client.revoke(key, seen, revocation).await?;
    client.shutdown().await;
    tell(key, &revoked, form)
}

fn tell(key: &str, revoked: &Revoked, form: Form) -> Result<Exit, Failure> {
    match revoked {
        Revoked::Done(receipt) => {
            let Receipt {
                operation,
                label,
                is_handed_on,
                nodes,
                is_audited,
                ..
            } = receipt;
            let outcome = match is_handed_on {
                true => "handed_on",
                false => "freed",
            };
            let done = Done {
                key,
                outcome,
                operation,
                former_holder: label,
                audited: *is_audited,
                nodes: *nodes,
            };
            print(form, &done)?;
            Ok(Exit::DONE)
        }
        Revoked::Changed(lock) => {
            print(form, &Report::of(lock))?;
            let message = format!("lock `{key}` has another holder by now, and nothing was done");
            Err(Failure::new(Exit::CHANGED, message))
        }
        _ => Err(Failure::new(
            Exit::NEGATIVE,
            format!("lock `{key}` is free, and nothing was done"),
        )),
    }
}

/// Shows the lock to a person, and has its key typed. `None` if the person thinks better of it.
fn choose(lock: &LockState, seen: Option<Seen>, form: Form) -> Result<Option<Seen>, Failure> {
    let is_asked = io::stdin().is_terminal() && io::stderr().is_terminal() && form == Form::Text;
    if !is_asked {
        let message = "without a terminal, --yes and --token (or --hash) are needed: `lockctl inspect` shows them";
        return Err(Failure::new(Exit::USAGE, message));
    }
    let key = lock.key.as_str();
    let mut out = io::stderr();
    writeln!(out, "{}\n", Report::of(lock))?;
    let holder = match seen {
        Some(seen) => seen,
        None => match lock.holders.first().and_then(|holder| holder.seen) {
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
    if is_shared(lock) {
        writeln!(out, "All who share the lock lose it.")?;
    }
    write!(
        out,
        "{WARNING}\nType the key to take the lock from its holder: "
    )?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if typed.trim_end_matches(['\n', '\r']) != Plain(key).to_string() {
        writeln!(out, "Nothing was done.")?;
        return Ok(None);
    }
    Ok(Some(holder))
}

/// Whether others may hold the lock by the same record.
fn is_shared(lock: &LockState) -> bool {
    let first = lock.holders.first();
    let is_share = first.is_some_and(|holder| holder.kind == HolderKind::Share);
    is_share || lock.holders.len() + lock.more_holders > 1
}

impl Revoke {
    /// The holder as the operator saw it.
    fn seen(&self) -> Result<Option<Seen>, Failure> {
        let wrong = |what: &str| Failure::new(Exit::USAGE, format!("`{what}` is none"));
        match (self.token, &self.hash) {
            (Some(token), _) => {
                let token = i64::try_from(token).ok();
                let token = token.and_then(|token| FencingToken::try_from(token).ok());
                let token = token.ok_or_else(|| wrong("--token"))?;
                Ok(Some(Seen::Token(token)))
            }
            (None, Some(hash)) => {
                let hash: RecordHash = hash.parse().map_err(|_| wrong("--hash"))?;
                Ok(Some(Seen::Record(hash)))
            }
            (None, None) => Ok(None),
        }
    }
}
