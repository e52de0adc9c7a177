//! The permissions of the user that the doctor is logged in as.

use lock_runtime::inspect::Answer;

use super::finding::Finding;
use crate::rights::{Role, commands};

/// The question to a server: who the user is.
pub(crate) fn who() -> Vec<String> {
    words(&["ACL", "WHOAMI"])
}

/// The questions to a server: whether the user may send what a service sends, by a lock's name.
pub(crate) fn dry_runs(user: &str, prefix: &str) -> Vec<Vec<String>> {
    let name = format!("{prefix}doctor");
    let of_role = commands(Role::Service);
    let dry_run = |command: &&'static str| {
        let arguments = arguments(command, &name);
        let head = words(&["ACL", "DRYRUN", user]);
        [head, arguments].concat()
    };
    of_role.iter().map(dry_run).collect()
}

/// A command of this name with arguments that it can have.
fn arguments(command: &str, name: &str) -> Vec<String> {
    let rest: &[&str] = match command {
        "ping" | "time" => &[],
        "subscribe" => &["lock:doctor00"],
        "publish" => &["lock:doctor00", "x"],
        "evalsha" | "eval" => return words(&[command, "return 1", "1", name]),
        "set" => return words(&[command, name, "x"]),
        "setrange" => return words(&[command, name, "0", "x"]),
        "pexpire" | "pexpireat" => return words(&[command, name, "1"]),
        "zadd" => return words(&[command, name, "1", "x"]),
        "zrem" | "zscore" => return words(&[command, name, "x"]),
        "zcount" | "zrangebyscore" | "zremrangebyscore" | "zrevrange" => {
            return words(&[command, name, "0", "1"]);
        }
        _ => return words(&[command, name]),
    };
    [&[command], rest]
        .concat()
        .iter()
        .map(|word| (*word).to_owned())
        .collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What the answers to [`dry_runs`] say. `None` if the user may not ask.
pub(crate) fn finding(user: &str, answers: &[Answer]) -> Option<Finding> {
    let asked = commands(Role::Service);
    let mut denied = Vec::new();
    for (command, answer) in asked.iter().zip(answers) {
        match answer {
            Answer::Text(text) if text == "OK" => {}
            Answer::Text(_) => denied.push(*command),
            // It may not ask, or its server cannot be asked.
            _ => return None,
        }
    }
    Some(match denied[..] {
        [] => Finding::ok(
            "rights",
            format!("user {user} may do all that a service does"),
        ),
        _ => Finding::fail(
            "rights",
            format!("user {user} lacks +{}", denied.join(" +")),
        )
        .since(
            "locks are refused (NOPERM)",
            "`lockctl acl service` prints what a service needs",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn denied_commands_are_named() {
        let count = commands(Role::Service).len();
        let fine = vec![Answer::Text("OK".to_owned()); count];
        assert_eq!(finding("app", &fine).unwrap().verdict, Verdict::Ok);
        let mut lacks = fine.clone();
        lacks[0] = Answer::Text("User app has no permissions to run it".to_owned());
        let found = finding("app", &lacks).unwrap();
        assert_eq!(found.verdict, Verdict::Fail);
        assert!(
            found
                .value
                .contains(&format!("lacks +{}", commands(Role::Service)[0]))
        );
        lacks[1] = Answer::Error("NOPERM".to_owned());
        assert_eq!(finding("app", &lacks), None);
    }
}
