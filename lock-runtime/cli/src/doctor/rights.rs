//! The rights of the user that the doctor is logged in as.

use lock_runtime::inspect::Answer;

use super::advice;
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
    /// The command in a form that changes nothing; `None` if it would change the connection.
    trial: Option<Vec<String>>,
}

impl Need {
    /// The command that asks whether the user may send it.
    pub(crate) fn dry_run(&self, user: &str) -> Vec<String> {
        [&words(&["ACL", "DRYRUN", user]), &self.words[..]].concat()
    }

    /// The command that tries whether the server carries it out. It changes nothing.
    pub(crate) fn trial(&self) -> Option<&Vec<String>> {
        self.trial.as_ref()
    }

    /// Returns the right that the user lacks by the answer to the [dry run](Need::dry_run), or `None`. Fails if the user may
    /// not ask, or the server does not know the question.
    fn lacks(&self, answer: &Answer) -> Result<Option<String>, NotSaid> {
        match answer {
            Answer::Text(text) if text == "OK" => Ok(None),
            Answer::Text(text) => Ok(Some(self.denied(text))),
            _ => Err(NotSaid),
        }
    }

    /// The right that a server's text denies.
    fn denied(&self, text: &str) -> String {
        if text.ends_with(" key") || text.contains("keys used") {
            self.keys.clone()
        } else if text.contains("channel") {
            CHANNELS.to_owned()
        } else {
            self.right()
        }
    }

    /// The right to send the command.
    fn right(&self) -> String {
        match &self.words[..] {
            [first, second, ..] if matches!(&**first, "cluster" | "pubsub") => {
                format!("+{first}|{second}")
            }
            words => format!("+{}", words[0]),
        }
    }
}

/// What the server did with the [trials](Need::trial) of some needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tried {
    /// The rights that the user lacks.
    pub(crate) lacks: Vec<String>,
    /// Commands that fail for another reason, with the first one's error.
    pub(crate) fails: Vec<String>,
    pub(crate) error: String,
}

/// Judges the answers to trials of a role.
pub(crate) fn tried<'a>(
    role: Role,
    answers: impl Iterator<Item = (&'a Need, &'a Answer)>,
) -> Tried {
    let mut tried = Tried::default();
    for (need, answer) in answers {
        let Answer::Error(text) = answer else {
            continue;
        };
        let (all, found) = if advice::is_denial(text) {
            (&mut tried.lacks, need.denied(text))
        } else if is_no_failure(text) || missed_without(role, &need.right()).is_some() {
            continue;
        } else {
            if tried.fails.is_empty() {
                tried.error.clone_from(text);
            }
            (&mut tried.fails, need.right().replace('+', ""))
        };
        if !all.contains(&found) {
            all.push(found);
        }
    }
    tried
}

/// Returns whether a command with this error would be carried out with other arguments, or on another node of the cluster.
fn is_no_failure(text: &str) -> bool {
    const CODES: [&str; 6] = [
        "NOSCRIPT",
        "MOVED",
        "ASK",
        "WRONGTYPE",
        "CROSSSLOT",
        "TRYAGAIN",
    ];
    CODES.iter().any(|code| text.starts_with(code))
}

/// The server does not report the user's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSaid;

/// Everything that a user of this role needs on a server: each command, and each kind of name.
pub(crate) fn needs(role: Role, url: &str, prefix: &str) -> Vec<Need> {
    let lock = format!("{prefix}doctor");
    let audit = format!("{{{prefix}}}:audit");
    // Names that nobody uses.
    let (no_lock, no_record) = (format!("{lock}:none"), format!("{{{lock}}}:none"));
    let need = |command: &str, name: &str| {
        let (keys, unused) = if name.starts_with('{') {
            (of_records(prefix), &no_record)
        } else {
            (of_locks(prefix), &no_lock)
        };
        let changes_connection = matches!(command, "subscribe" | "multi" | "exec");
        Need {
            words: arguments(command, name),
            keys,
            trial: (!changes_connection).then(|| arguments(command, unused)),
        }
    };
    let mut needs = Vec::new();
    for right in [of_role(role), more(url, role)].concat() {
        let command = name_of(right);
        needs.push(match command {
            "xadd" | "xrange" if role != Role::Service => need(command, &audit),
            // The run histories.
            "xadd" => need(command, &format!("{{{lock}}}:h")),
            _ => need(command, &lock),
        });
    }
    let mut beside = [":f", ":w", ":r", ":h"]
        .map(|kind| format!("{{{lock}}}{kind}"))
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
        needs.extend(by.iter().map(|command| need(command, &name)));
    }
    needs
}

/// The command that a right such as `+ping` permits.
fn name_of(right: &str) -> &str {
    right.strip_prefix('+').unwrap_or(right)
}

/// A command of this name with valid arguments. On a name that nobody uses, it changes nothing.
fn arguments(command: &str, name: &str) -> Vec<String> {
    match command {
        "ping" | "time" | "multi" | "exec" | "asking" | "info" => words(&[command]),
        "cluster|slots" => words(&["cluster", "slots"]),
        "pubsub|numsub" => words(&["pubsub", "numsub", "lock:doctor00"]),
        "scan" => words(&[command, "0"]),
        "wait" => words(&[command, "0", "1"]),
        "subscribe" => words(&[command, "lock:doctor00"]),
        "publish" => words(&[command, "lock:doctor00", "x"]),
        "evalsha" | "eval" => words(&[command, "return 1", "1", name]),
        "set" => words(&[command, name, "x", "XX"]),
        "zmscore" | "zrem" | "zscore" | "zrank" => words(&[command, name, "x"]),
        "setrange" => words(&[command, name, "0", ""]),
        "pexpire" | "pexpireat" => words(&[command, name, "1"]),
        "zadd" => words(&[command, name, "XX", "1", "x"]),
        "xadd" => words(&[command, name, "NOMKSTREAM", "*", "x", "x"]),
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

/// Returns what is missing without a right that locks can do without; `None` if they need it. A script that may not ask
/// assumes that each waiter is present.
fn missed_without(role: Role, right: &str) -> Option<&'static str> {
    match (role, right) {
        (_, NUMSUB) => Some("waiters whose process is gone may delay others by some seconds"),
        (Role::Service, XADD) => Some("calls with `runs` record nothing"),
        _ => None,
    }
}

const NUMSUB: &str = "+pubsub|numsub";
const XADD: &str = "+xadd";

/// The finding about the user, by the rights that it lacks for this role.
pub(crate) fn finding(user: &str, role: Role, lacks: &[String]) -> Finding {
    let all = format!("{user} has all rights of {}", role.with_article());
    if lacks.is_empty() {
        return Finding::ok("rights", all);
    }
    let missed: Vec<_> = lacks
        .iter()
        .map(|right| missed_without(role, right))
        .collect();
    let lacks = format!("{user} lacks {}", lacks.join(" "));
    let command = format!(
        "`lockctl acl {}` prints the rights that it needs",
        role.name()
    );
    if missed.iter().all(Option::is_some) {
        let missed: Vec<_> = missed.into_iter().flatten().collect();
        let reason = format!("no lock is refused, but {}", missed.join(", and "));
        return Finding::warn("rights", lacks).since(reason, command);
    }
    let reason = match role {
        Role::Service => "locks are refused (NOPERM)",
        Role::Operator => "some commands for inspecting or revoking locks are refused (NOPERM)",
        Role::Viewer => "some commands for inspecting locks are refused (NOPERM)",
    };
    Finding::fail("rights", lacks).since(reason, command)
}

/// The role that a user is meant for: the role for which it lacks no right, or else the fewest. A user that may run
/// scripts is no viewer.
pub(crate) fn nearest(lacks: &[(Role, Vec<String>)]) -> Option<&(Role, Vec<String>)> {
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
                ("{lock:doctor}:h", "~{lock:*"),
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
        let url = "redlock://a,b,c?wait_replicas=1";
        let needs: Vec<Need> = Role::ALL
            .iter()
            .flat_map(|role| needs(*role, url, "lock:"))
            .collect();
        let forms: Vec<String> = needs
            .iter()
            .filter_map(|need| Some(need.trial()?.join(" ")))
            .collect();
        for form in [
            "set {lock:doctor}:none x XX",
            "set lock:doctor:none x XX",
            "xadd {lock:doctor}:none NOMKSTREAM * x x",
        ] {
            assert!(forms.contains(&form.to_owned()), "{form}: {forms:?}");
        }
        for form in &forms {
            let words: Vec<&str> = form.split(' ').collect();
            let name = words.iter().find(|word| word.contains("lock:"));
            let name = name.copied().unwrap_or("lock:doctor:none");
            assert!(name.ends_with(":none") || name == "lock:doctor00", "{form}");
            assert!(
                !["subscribe", "multi", "exec"].contains(&words[0]),
                "{form}"
            );
        }
    }

    #[test]
    fn answers_to_trials_are_told_apart() {
        let needs = needs(Role::Service, URL, "lock:");
        let answer = |need: &Need| match &*need.words[0] {
            "zadd" => {
                Answer::Error("NOPERM: User a has no permissions to run the 'zadd' command".into())
            }
            "get" => Answer::Error("NOPERM: No permissions to access a key".into()),
            "evalsha" => Answer::Error("NOSCRIPT: No matching script".into()),
            "set" | "setrange" => Answer::Error("OOM: command not allowed".into()),
            "pubsub" | "xadd" => Answer::Error("ERR: unknown command".into()),
            _ => Answer::Integer(0),
        };
        let answers: Vec<Answer> = needs.iter().map(answer).collect();
        let tried = tried(Role::Service, needs.iter().zip(&answers));
        assert_eq!(tried.lacks, ["~lock:*", "+zadd", "~{lock:*"]);
        assert_eq!(tried.fails, ["set", "setrange"]);
        assert_eq!(tried.error, "OOM: command not allowed");
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
            let (role, lacks) = nearest(&lacks).unwrap();
            let found = finding("user app", *role, lacks);
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
