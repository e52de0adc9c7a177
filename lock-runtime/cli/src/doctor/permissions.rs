//! Checks the user's rights: by asking the servers, or else by trying commands.

use std::time::Duration;

use lock_runtime::inspect::{Answer, ServerAnswers};
use lock_runtime::{LockClient, LockError};

use super::ask;
use super::finding::Finding;
use super::rights;
use crate::args::{Connection, Kept};
use crate::rights::Role;

/// The key of a lock that no service uses.
const KEY: &str = "doctor";

pub(super) async fn findings(
    client: &LockClient,
    connection: &Connection,
    role: Option<Role>,
) -> Result<Vec<Finding>, LockError> {
    let mut findings = Vec::new();
    // With Redisson's record a service sends other commands.
    if connection.record == Kept::Native {
        for ServerAnswers { server, answers } in client.ask_servers(None, &[rights::who()]).await? {
            let Ok([Answer::Text(user)]) = answers.as_deref() else {
                continue;
            };
            let found = said(client, connection, role, &server, user).await?;
            findings.extend(found.map(|found| found.on(&server)));
        }
    }
    if findings.is_empty() {
        findings.push(by_doing(client, connection, role).await);
    }
    Ok(findings)
}

/// Asks a server; `None` if it does not report the rights.
async fn said(
    client: &LockClient,
    connection: &Connection,
    role: Option<Role>,
    server: &str,
    user: &str,
) -> Result<Option<Finding>, LockError> {
    let mut lacks = Vec::new();
    for role in role.map_or(Role::ALL.to_vec(), |role| vec![role]) {
        let needs = rights::needs(role, &connection.url, &connection.prefix);
        let questions: Vec<_> = needs.iter().map(|need| need.dry_run(user)).collect();
        let answers = ask(client, server, &questions).await?.unwrap_or_default();
        match rights::lacks(&needs, &answers) {
            Ok(of_role) if answers.len() == needs.len() => lacks.push((role, of_role)),
            _ => return Ok(None),
        }
    }
    Ok(rights::finding(user, &lacks))
}

/// Tries: a service takes a lock, and others inspect locks.
async fn by_doing(client: &LockClient, connection: &Connection, role: Option<Role>) -> Finding {
    let refused = match role {
        None | Some(Role::Service) => match taken(client).await {
            Ok(()) => return Finding::ok("rights", "a lock was taken, renewed and released"),
            Err(error) if error.is_busy() => {
                return Finding::ok("rights", "another doctor has the lock");
            }
            Err(error) if role.is_some() || !error.is_rejected() => {
                return lacking("a lock cannot be taken", error.to_string(), Role::Service);
            }
            Err(error) => Some(error),
        },
        Some(Role::Viewer | Role::Operator) => None,
    };
    if let Err(error) = looked(client).await {
        return match refused {
            Some(refused) => lacking("a lock cannot be taken", refused.to_string(), Role::Service),
            None => lacking(
                "locks cannot be inspected",
                error.to_string(),
                role.unwrap_or(Role::Viewer),
            ),
        };
    }
    const LOOKED: &str = "locks and the audit can be inspected, as by a viewer";
    // In Redisson's record, revocations send other commands.
    if role == Some(Role::Viewer) || connection.record == Kept::Redisson {
        return Finding::ok("rights", LOOKED);
    }
    match (role, refused_to_revoke(client, connection).await) {
        (_, Ok(None)) => Finding::ok(
            "rights",
            "locks can be inspected and revoked, as by an operator",
        ),
        (None, Ok(Some(_))) => Finding::ok("rights", LOOKED),
        (Some(_), Ok(Some(refusal))) => {
            lacking("a lock cannot be revoked", refusal, Role::Operator)
        }
        (_, Err(error)) => lacking(
            "a lock cannot be revoked",
            error.to_string(),
            Role::Operator,
        ),
    }
}

fn lacking(what: &str, why: impl Into<String>, role: Role) -> Finding {
    let change = format!(
        "`lockctl acl {}` prints the rights that it needs",
        role.name()
    );
    Finding::fail("rights", what).since(why, change)
}

/// Takes a lock, and gives it back.
async fn taken(client: &LockClient) -> Result<(), LockError> {
    // With a token, a script takes the lock, and needs the rights of every script.
    let lock = client.lock(KEY).wait(Duration::ZERO).fenced();
    let guard = lock.acquire().await?;
    guard.renew().await?;
    guard.release().await
}

async fn looked(client: &LockClient) -> Result<(), LockError> {
    client.inspect(KEY).await?;
    client.locks().next_page().await?;
    let mut audit = client.audit();
    // On a quorum, a page has the entries of one node.
    while audit.next_page().await?.is_some_and(|page| page.is_empty()) {}
    Ok(())
}

/// Tries an operator's commands. Returns a server's refusal, or `None` if it refuses nothing.
async fn refused_to_revoke(
    client: &LockClient,
    connection: &Connection,
) -> Result<Option<String>, LockError> {
    let trials = rights::trials(&connection.prefix);
    for ServerAnswers { answers, .. } in client.ask_servers(None, &trials).await? {
        if let Some(refusal) = rights::refusal(&answers?) {
            return Ok(Some(refusal.to_owned()));
        }
    }
    Ok(None)
}
