//! The rights of the user that the doctor is logged in as.

use lock_runtime::inspect::Answer;

use super::finding::Finding;
use crate::rights::{CHANNELS, Kind, Role, more, of_locks, of_records, of_role};

/// The command that asks who the user is.
pub(crate) fn who() -> Vec<String> {
    words(&["ACL", "WHOAMI"])
}

/// A command that a role sends, and the right that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    words: Vec<String>,
    /// The pattern of its keys.
    keys: String,
}

impl Need {
    /// The command that asks whether the user may send it.
    pub(crate) fn dry_run(&self, user: &str) -> Vec<String> {
        [&words(&["ACL", "DRYRUN", user]), &self.words[..]].concat()
    }

    /// Returns the right that the user lacks by this answer, or `None`. Fails if the user may not ask, or the server does
    /// not know the question.
    fn lacks(&self, answer: &Answer) -> Result<Option<String>, NotSaid> {
        match answer {
            Answer::Text(text) if text == "OK" => Ok(None),
            Answer::Text(text) if text.ends_with(" key") || text.contains("keys used") => {
                Ok(Some(self.keys.clone()))
            }
            Answer::Text(text) if text.contains("channel") => Ok(Some(CHANNELS.to_owned())),
            Answer::Text(_) => {
                let [first, second, ..] = &self.words[..] else {
                    return Ok(Some(format!("+{}", self.words.concat())));
                };
                Ok(Some(match first.as_str() {
                    "cluster" | "pubsub" => format!("+{first}|{second}"),
                    _ => format!("+{first}"),
                }))
            }
            _ => Err(NotSaid),
        }
    }
}

/// The server does not report the user's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSaid;

/// Everything that a user of this role needs on a server: each command, and each kind of name.
pub(crate) fn needs(role: Role, url: &str, prefix: &str) -> Vec<Need> {
    let lock = format!("{prefix}doctor");
    let audit = format!("{{{prefix}}}:audit");
    let need = |words: Vec<String>, keys: String| Need { words, keys };
    let mut needs = Vec::new();
    for right in [of_role(role), more(url, role)].concat() {
        let command = name_of(right);
        needs.push(match command {
            "xadd" | "xrange" => need(arguments(command, &audit), of_records(prefix)),
            _ => need(arguments(command, &lock), of_locks(prefix)),
        });
    }
    // If the prefix has a hash tag, the other records use it too.
    let mut beside = [":f", ":w", ":r"]
        .map(|kind| {
            if lock.contains('{') {
                format!("{lock}{kind}")
            } else {
                format!("{{{lock}}}{kind}")
            }
        })
        .to_vec();
    if Kind::of(url) == Kind::Quorum && role != Role::Viewer {
        // The marker of the node's run.
        beside.push(format!("{{{prefix}}}:n"));
    }
    let by: &[&str] = match role {
        Role::Viewer => &["pttl"],
        // `get` reads, and `set` writes.
        Role::Operator | Role::Service => &["get", "set"],
    };
    for name in beside {
        let pattern = if name.starts_with('{') {
            of_records(prefix)
        } else {
            of_locks(prefix)
        };
        needs.extend(
            by.iter()
                .map(|command| need(arguments(command, &name), pattern.clone())),
        );
    }
    needs
}

/// The further commands of an operator in a form that changes nothing, for a server that does not report rights.
pub(crate) fn trials(prefix: &str) -> Vec<Vec<String>> {
    let name = format!("{{{prefix}doctor}}:none");
    let of_viewer = of_role(Role::Viewer);
    let mut of_operator = of_role(Role::Operator);
    of_operator.retain(|right| !of_viewer.contains(right));
    let trial = |right: &&str| match name_of(right) {
        "set" => words(&["set", &name, "x", "XX"]),
        "zadd" => words(&["zadd", &name, "XX", "1", "x"]),
        "xadd" => words(&["xadd", &name, "NOMKSTREAM", "*", "x", "x"]),
        command => arguments(command, &name),
    };
    of_operator.iter().map(trial).collect()
}

/// Returns a refusal for lack of rights; `None` if there is none. Other errors are not refusals.
pub(crate) fn refusal(answers: &[Answer]) -> Option<&str> {
    answers.iter().find_map(|answer| match answer {
        Answer::Error(text) if text.contains("NOPERM") || text.contains("no permissions") => {
            Some(&**text)
        }
        _ => None,
    })
}

/// The command that a right such as `+ping` permits.
fn name_of(right: &str) -> &str {
    right.strip_prefix('+').unwrap_or(right)
}

/// A command of this name with valid arguments.
fn arguments(command: &str, name: &str) -> Vec<String> {
    match command {
        "ping" | "time" | "multi" | "exec" | "asking" | "info" => words(&[command]),
        "cluster|slots" => words(&["cluster", "slots"]),
        "pubsub|numsub" => words(&["pubsub", "numsub", "lock:doctor00"]),
        "scan" => words(&[command, "0"]),
        "wait" => words(&[command, "1", "1"]),
        "subscribe" => words(&[command, "lock:doctor00"]),
        "publish" => words(&[command, "lock:doctor00", "x"]),
        "evalsha" | "eval" => words(&[command, "return 1", "1", name]),
        "set" | "zmscore" | "zrem" | "zscore" | "zrank" => words(&[command, name, "x"]),
        "setrange" => words(&[command, name, "0", "x"]),
        "pexpire" | "pexpireat" => words(&[command, name, "1"]),
        "zadd" => words(&[command, name, "1", "x"]),
        "xadd" => words(&[command, name, "*", "x", "x"]),
        "getrange" | "zcount" | "zrangebyscore" | "zremrangebyscore" | "zrevrange" | "xrange" => {
            words(&[command, name, "0", "1"])
        }
        _ => words(&[command, name]),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The rights that a user lacks for a role, by the answers about its [needs].
pub(crate) fn lacks(needs: &[Need], answers: &[Answer]) -> Result<Vec<String>, NotSaid> {
    let mut lacks = Vec::new();
    for (need, answer) in needs.iter().zip(answers) {
        let lack = need.lacks(answer)?.filter(|lack| !lacks.contains(lack));
        lacks.extend(lack);
    }
    Ok(lacks)
}

/// The right that locks can do without: a script that may not ask assumes that each waiter is present.
const OPTIONAL: &str = "+pubsub|numsub";

/// The finding about the user, by the rights that it lacks for each of these roles.
pub(crate) fn finding(user: &str, lacks: &[(Role, Vec<String>)]) -> Option<Finding> {
    let (role, lacks) = nearest(lacks)?;
    let needs_more = lacks.iter().any(|lack| lack != OPTIONAL);
    let all = format!("user {user} has all rights of {}", role.with_article());
    if lacks.is_empty() {
        return Some(Finding::ok("rights", all));
    }
    let lacks = format!("user {user} lacks {}", lacks.join(" "));
    let command = format!(
        "`lockctl acl {}` prints the rights that it needs",
        role.name()
    );
    if !needs_more {
        let reason = "no lock is refused, but waiters whose process is gone may delay others by some seconds";
        return Some(Finding::warn("rights", lacks).since(reason, command));
    }
    let reason = match role {
        Role::Service => "locks are refused (NOPERM)",
        Role::Operator => "some commands for inspecting or revoking locks are refused (NOPERM)",
        Role::Viewer => "some commands for inspecting locks are refused (NOPERM)",
    };
    Some(Finding::fail("rights", lacks).since(reason, command))
}

/// The role that a user is meant for: the role for which it lacks no right, or else the fewest. A user that may run
/// scripts is no viewer.
fn nearest(lacks: &[(Role, Vec<String>)]) -> Option<&(Role, Vec<String>)> {
    let may_run = |(_, lacks): &&(Role, Vec<String>)| !lacks.iter().any(|lack| lack == "+evalsha");
    let runs_scripts = lacks
        .iter()
        .filter(|(role, _)| *role != Role::Viewer)
        .any(|of_role| may_run(&of_role));
    let is_meant = |(role, _): &&(Role, Vec<String>)| *role != Role::Viewer || !runs_scripts;
    let meant = lacks
        .iter()
        .filter(is_meant)
        .min_by_key(|(_, lacks)| lacks.len());
    meant.or(lacks.first())
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    const URL: &str = "redis://127.0.0.1";

    /// The rights that a user lacks for a role, by the server's answer about a command.
    fn lacks_with(role: Role, denied: impl Fn(&[String]) -> Option<&'static str>) -> Vec<String> {
        let needs = needs(role, URL, "lock:");
        let answer = |need: &Need| Answer::Text(denied(&need.words).unwrap_or("OK").to_owned());
        let answers: Vec<_> = needs.iter().map(answer).collect();
        lacks(&needs, &answers).unwrap()
    }

    #[test]
    fn each_missing_right_is_named() {
        const COMMAND: &str = "User app has no permissions to run the 'x' command";
        const KEY: &str = "User app has no permissions to access the 'x' key";
        const CHANNEL: &str = "User app has no permissions to access the 'x' channel";
        for role in Role::ALL {
            assert_eq!(lacks_with(role, |_| None), [""; 0]);
            for right in of_role(role) {
                let first = name_of(right).split('|').next().unwrap_or_default();
                let lacks = lacks_with(role, |words| (words[0] == first).then_some(COMMAND));
                assert_eq!(lacks, [right], "{role:?}");
            }
            for (name, pattern) in [
                ("lock:doctor", "~lock:*"),
                ("{lock:doctor}:f", "~{lock:*"),
                ("{lock:doctor}:w", "~{lock:*"),
                ("{lock:doctor}:r", "~{lock:*"),
            ] {
                let of_name = |words: &[String]| words.get(1).is_some_and(|word| word == name);
                let lacks = lacks_with(role, |words| of_name(words).then_some(KEY));
                assert_eq!(lacks, [pattern], "{role:?} {name}");
            }
            let of_channel =
                |words: &[String]| words.get(1).is_some_and(|word| word.ends_with("00"));
            let lacks = lacks_with(role, |words| of_channel(words).then_some(CHANNEL));
            assert_eq!(lacks, ["&lock:*"], "{role:?}");
        }
    }

    #[test]
    fn names_of_a_quorum_and_of_the_audit_are_among_the_needs() {
        let has = |role, url, name: &str| {
            let needs = needs(role, url, "lock:");
            needs
                .iter()
                .any(|need| need.words.iter().any(|word| word == name))
        };
        assert!(has(Role::Service, "redlock://a,b,c", "{lock:}:n"));
        assert!(!has(Role::Service, URL, "{lock:}:n"));
        assert!(has(Role::Operator, URL, "{lock:}:audit"));
        assert!(!has(Role::Service, URL, "{lock:}:audit"));
        assert!(has(Role::Service, "redis-cluster://a", "slots"));
        assert!(has(Role::Service, "redis://a?wait_replicas=1", "wait"));
        assert!(!has(Role::Service, "redis://a?wait_replicas=0", "wait"));
    }

    #[test]
    fn trials_change_nothing() {
        let trials = trials("lock:");
        let forms: Vec<String> = trials.iter().map(|words| words.join(" ")).collect();
        assert!(
            forms.contains(&"set {lock:doctor}:none x XX".to_owned()),
            "{forms:?}"
        );
        assert!(forms.contains(&"xadd {lock:doctor}:none NOMKSTREAM * x x".to_owned()));
        assert!(
            !forms.iter().any(|form| form.starts_with("scan")),
            "{forms:?}"
        );
        let denied = "NOPERM User app has no permissions to run the 'xadd' command";
        let error = |text: &str| Answer::Error(text.to_owned());
        assert_eq!(
            refusal(&[Answer::Nil, error("NOSCRIPT"), error(denied)]),
            Some(denied)
        );
        assert_eq!(refusal(&[error("MOVED 1 a:1"), Answer::Integer(0)]), None);
    }

    #[test]
    fn server_that_does_not_report_rights_is_recognised() {
        let needs = needs(Role::Viewer, URL, "lock:");
        let mut answers = vec![Answer::Text("OK".to_owned()); needs.len()];
        answers[1] = Answer::Error("NOPERM".to_owned());
        assert_eq!(lacks(&needs, &answers), Err(NotSaid));
    }

    #[test]
    fn user_is_judged_by_the_role_that_it_is_meant_for() {
        let of = |service: &[&str], operator: &[&str], viewer: &[&str]| {
            let owned = |lacks: &[&str]| lacks.iter().map(|lack| (*lack).to_owned()).collect();
            let lacks = [
                (Role::Service, owned(service)),
                (Role::Operator, owned(operator)),
                (Role::Viewer, owned(viewer)),
            ];
            let found = finding("app", &lacks).unwrap();
            (found.verdict, found.value)
        };
        let fine = |role: &str| (Verdict::Ok, format!("user app has all rights of {role}"));
        let fails = |lacks: &str| (Verdict::Fail, format!("user app lacks {lacks}"));
        assert_eq!(of(&[], &["+xadd"], &["+scan"]), fine("a service"));
        assert_eq!(of(&["+exists"], &[], &[]), fine("an operator"));
        let viewer = of(&["+evalsha", "+set"], &["+evalsha", "+set"], &[]);
        assert_eq!(viewer, fine("a viewer"));
        // A user that runs scripts is meant for more than inspection.
        assert_eq!(
            of(&["+zscore"], &["+zscore", "+xadd"], &[]),
            fails("+zscore")
        );
        let viewer = of(&["+evalsha", "+set"], &["+evalsha", "+set"], &["+scan"]);
        assert_eq!(viewer, fails("+scan"));
        // No lock is refused without this one.
        let numsub = "+pubsub|numsub";
        assert_eq!(
            of(&[numsub], &[numsub, "+xadd"], &[]),
            (Verdict::Warn, format!("user app lacks {numsub}"))
        );
        assert_eq!(
            of(&["+zscore", numsub], &["+zscore", numsub, "+xadd"], &[]),
            fails("+zscore +pubsub|numsub")
        );
    }
}
