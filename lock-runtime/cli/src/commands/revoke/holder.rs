//! Revokes all locks of one holder, such as a process that hangs.

use std::fmt;
use std::io::{self, Write};

use lock_runtime::LockClient;
use lock_runtime::inspect::{ListedLock, Revocation, Revoked};
use serde::Serialize;

use super::{Outcome, is_attended, is_shared, is_typed};
use crate::args::{Revoke, SHARED};
use crate::commands::list::Line;
use crate::connection::PAGE;
use crate::exit::{Exit, Failure};
use crate::output::{Form, complain, escape, print};

/// A lock whose revocation failed.
#[derive(Debug, Serialize)]
struct Failed<'a> {
    key: &'a str,
    outcome: &'static str,
    error: String,
}

impl Failed<'_> {
    fn new(key: &str, error: String) -> Failed<'_> {
        Failed {
            key,
            outcome: "failed",
            error,
        }
    }
}

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lock `{}`: {}", escape(self.key), escape(&self.error))
    }
}

/// Lists the locks of a holder, and takes them one after the other.
pub(super) async fn all(
    client: &LockClient,
    revoke: &Revoke,
    label: &str,
    revocation: &Revocation,
    form: Form,
) -> Result<Exit, Failure> {
    let locks = held_by(client, label).await?;
    if locks.is_empty() {
        let message = format!("no lock is held by `{label}`");
        return Err(Failure::new(Exit::NEGATIVE, message));
    }
    if revoke.dry_run {
        for lock in &locks {
            print(form, &Line(lock))?;
        }
        return Ok(Exit::DONE);
    }
    if !is_meant(&locks, revoke, label, form)? {
        return Ok(Exit::NEGATIVE);
    }
    let (mut failed, mut exit) = (0, Exit::DONE);
    for lock in &locks {
        let code = take(client, lock, revoke, revocation, form).await?;
        if code != Exit::DONE {
            failed += 1;
            exit = if exit == Exit::DONE { code } else { exit };
        }
    }
    if failed > 0 {
        let all = locks.len();
        complain(&format!("{failed} of {all} locks were not taken"));
    }
    Ok(exit)
}

/// Returns the locks of a holder in the order of their keys.
async fn held_by(client: &LockClient, label: &str) -> Result<Vec<ListedLock>, Failure> {
    let (mut pages, mut found) = (client.locks().page_size(PAGE), Vec::new());
    while let Some(page) = pages.next_page().await? {
        let locks = page.into_iter();
        found.extend(locks.filter(|lock| is_of(&lock.holder.label, label)));
    }
    found.sort_by(|one, other| one.key.cmp(&other.key));
    // A lock may be listed twice. The last one is the newest, and the sort keeps their order.
    found.reverse();
    found.dedup_by(|one, other| one.key == other.key);
    found.reverse();
    Ok(found)
}

/// Returns whether the label, or its first words, were asked for, verbatim or as a terminal shows them.
fn is_of(label: &str, asked: &str) -> bool {
    let begins = |label: &str| {
        let rest = label.strip_prefix(asked.trim());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let shown = escape(label).to_string();
    let labels = [label, &shown].map(|label| [label, label.strip_prefix(SHARED).unwrap_or(label)]);
    labels.concat().into_iter().any(begins)
}

/// Shows the locks, and asks a person unless `--yes` was given.
fn is_meant(
    locks: &[ListedLock],
    revoke: &Revoke,
    label: &str,
    form: Form,
) -> Result<bool, Failure> {
    if !revoke.yes && !is_attended(form) {
        let message =
            "without a terminal, --yes is needed: --dry-run shows which locks would be taken";
        return Err(Failure::new(Exit::USAGE, message));
    }
    if form == Form::Text {
        let mut out = io::stderr();
        for lock in locks {
            writeln!(out, "{}", Line(lock))?;
        }
        if locks
            .iter()
            .any(|lock| is_shared(&lock.holder, lock.holder_count))
        {
            writeln!(out, "All holders of a shared lock lose it.")?;
        }
    }
    if revoke.yes {
        return Ok(true);
    }
    let many = match locks.len() {
        1 => "this lock".to_owned(),
        many => format!("these {many} locks"),
    };
    is_typed(label, &format!("Type the label to take {many}: "))
}

/// Takes one lock, and reports the outcome.
async fn take(
    client: &LockClient,
    lock: &ListedLock,
    asked: &Revoke,
    revocation: &Revocation,
    form: Form,
) -> Result<Exit, Failure> {
    let key = lock.key.as_str();
    let Some(seen) = lock.holder.reference else {
        let error = "its record cannot be revoked".to_owned();
        print(form, &Failed::new(key, error))?;
        return Ok(Exit::NEGATIVE);
    };
    match client.revoke(key, seen, revocation.clone()).await {
        Ok(revoked) => {
            let revoked = &revoked;
            print(form, &Outcome { revoked, asked })?;
            // A lock that the holder has released by now is no failure.
            match revoked {
                Revoked::Changed(_) => Ok(Exit::CHANGED),
                _ => Ok(Exit::DONE),
            }
        }
        Err(error) => {
            let failure = Failure::from(error);
            print(form, &Failed::new(key, failure.to_string()))?;
            Ok(failure.exit())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_is_the_whole_or_its_first_words() {
        const LABEL: &str = "api-7@host (pid 4121) ship";
        for asked in [LABEL, "api-7@host", "api-7@host (pid 4121)", " api-7@host "] {
            assert!(is_of(LABEL, asked), "{asked}");
        }
        for asked in [
            "api-7",
            "api-7@hos",
            "api-7@host0",
            "api-7@host (pid 41",
            "ship",
            "API-7@host",
        ] {
            assert!(!is_of(LABEL, asked), "{asked}");
        }
        assert!(is_of("a\u{1b} (pid 1)", "a\\u{1b}"));
        let shared = format!("{SHARED}{LABEL}");
        assert!(is_of(&shared, "api-7@host") && is_of(&shared, &shared));
        assert!(!is_of(&shared, "shared:7"));
        assert!(!is_of("", "api-7@host"));
    }
}
