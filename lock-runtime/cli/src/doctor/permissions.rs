//! Checks the user's rights, by asking the servers or else by trying commands, and then what the user is for: a service takes
//! locks, others inspect them.

use lock_runtime::inspect::{Answer, ServerAnswers};
use lock_runtime::{LockClient, LockError};

use super::finding::{Finding, Verdict};
use super::rights::{Need, Tried};
use super::{advice, ask, rights, trial};
use crate::args::{Connection, Kept};
use crate::rights::Role;

pub(super) async fn findings(
    client: &LockClient,
    connection: &Connection,
    role: Option<Role>,
) -> Result<Vec<Finding>, LockError> {
    // With Redisson's record a service sends other commands.
    if connection.record == Kept::Redisson {
        return Ok(vec![in_redissons_record(client, connection, role).await]);
    }
    let (mut findings, mut meant) = (Vec::new(), Vec::new());
    for ServerAnswers { server, answers } in client.ask_servers(None, &[rights::who()]).await? {
        let who = match answers.as_deref() {
            Ok([Answer::Text(user)]) => Some(user.as_str()),
            Ok(_) => None,
            // Reported already.
            Err(_) => continue,
        };
        let asked = Asked {
            client,
            connection,
            server: &server,
        };
        let judged = asked.judge(who, role).await?;
        findings.extend(judged.findings.into_iter().map(|found| found.on(&server)));
        meant.push(judged.role);
    }
    if findings.iter().any(|found| found.verdict == Verdict::Fail) {
        return Ok(findings);
    }
    if meant.iter().any(|role| *role != Role::Service) {
        let failed = looked(client).await.err();
        let role = role.unwrap_or(Role::Viewer);
        findings.extend(failed.map(|error| lacking("locks cannot be inspected", &error, role)));
    } else {
        findings.push(trial::finding(client, connection).await);
    }
    Ok(findings)
}

/// The findings about the user on one server, and what the user is meant for.
struct Judged {
    role: Role,
    findings: Vec<Finding>,
}

/// A server to ask for the user's rights.
struct Asked<'a> {
    client: &'a LockClient,
    connection: &'a Connection,
    server: &'a str,
}

impl Asked<'_> {
    /// Judges the user `who`, if its name is known, for its role or else for the closest one.
    async fn judge(&self, who: Option<&str>, role: Option<Role>) -> Result<Judged, LockError> {
        let roles = role.map_or(Role::ALL.to_vec(), |role| vec![role]);
        let lacks = match who {
            Some(user) => self.said(user, &roles).await?,
            None => None,
        };
        let lacks = match lacks {
            Some(lacks) => lacks,
            None => {
                let mut lacks = Vec::with_capacity(roles.len());
                for role in roles {
                    lacks.push((role, self.tried(role).await?.lacks));
                }
                lacks
            }
        };
        let user = who.map_or_else(|| "the user".to_owned(), |user| format!("user {user}"));
        let (role, lacks) = rights::nearest(&lacks).expect("some role was judged");
        let mut findings = vec![rights::finding(&user, *role, lacks)];
        let Tried { fails, error, .. } = self.tried(*role).await?;
        if !fails.is_empty() {
            let shown = format!("refused: {}", fails.join(", "));
            let change = advice::of(&error, *role);
            findings.push(Finding::fail("commands", shown).since(error, change));
        }
        Ok(Judged {
            role: *role,
            findings,
        })
    }

    /// Asks which rights the user lacks for each role; `None` if the server does not tell.
    async fn said(
        &self,
        user: &str,
        roles: &[Role],
    ) -> Result<Option<Vec<(Role, Vec<String>)>>, LockError> {
        let mut lacks = Vec::new();
        for role in roles {
            let needs = self.needs(*role);
            let questions: Vec<_> = needs.iter().map(|need| need.dry_run(user)).collect();
            let answers = ask(self.client, self.server, &questions).await?;
            let answers = answers.unwrap_or_default();
            match rights::lacks(&needs, &answers) {
                Ok(of_role) if answers.len() == needs.len() => lacks.push((*role, of_role)),
                _ => return Ok(None),
            }
        }
        Ok(Some(lacks))
    }

    /// Sends the commands of a role, in a form that changes nothing.
    async fn tried(&self, role: Role) -> Result<Tried, LockError> {
        let mut needs = self.needs(role);
        needs.retain(|need| need.trial().is_some());
        let trials: Vec<_> = needs.iter().filter_map(Need::trial).cloned().collect();
        let answers = ask(self.client, self.server, &trials).await?;
        Ok(rights::tried(
            role,
            needs.iter().zip(&answers.unwrap_or_default()),
        ))
    }

    fn needs(&self, role: Role) -> Vec<Need> {
        rights::needs(role, &self.connection.url, &self.connection.prefix)
    }
}

/// Tries: a service takes a lock, and others inspect locks.
async fn in_redissons_record(
    client: &LockClient,
    connection: &Connection,
    role: Option<Role>,
) -> Finding {
    const LOOKED: &str = "locks and the audit can be inspected, as by a viewer";
    let taken = match role {
        None | Some(Role::Service) => Some(trial::finding(client, connection).await),
        Some(Role::Viewer | Role::Operator) => None,
    };
    match taken {
        Some(taken)
            if taken.verdict == Verdict::Ok
                || role.is_some()
                || !advice::is_denial(&taken.reason) =>
        {
            taken
        }
        taken => match (looked(client).await, taken) {
            (Ok(()), _) => Finding::ok("rights", LOOKED),
            (Err(_), Some(taken)) => taken,
            (Err(error), None) => {
                let role = role.unwrap_or(Role::Viewer);
                lacking("locks cannot be inspected", &error, role)
            }
        },
    }
}

fn lacking(what: &str, error: &LockError, role: Role) -> Finding {
    let why = error.to_string();
    let change = advice::of(&why, role);
    Finding::fail("rights", what).since(why, change)
}

async fn looked(client: &LockClient) -> Result<(), LockError> {
    client.inspect(trial::KEY).await?;
    client.locks().next_page().await?;
    let mut audit = client.audit();
    // On a quorum, a page has the entries of one node.
    while audit.next_page().await?.is_some_and(|page| page.is_empty()) {}
    Ok(())
}
