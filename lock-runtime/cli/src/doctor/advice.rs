//! What to change, by the text of an error.

use crate::rights::{CHANNELS, Role};

/// A word of a server's error, and the remedy.
const REMEDIES: [(&str, &str); 12] = [
    (
        "WRONGPASS",
        "check the user and the password: LOCK_URL, or --password-file",
    ),
    (
        "NOAUTH",
        "give a user and a password: LOCK_URL, or --password-file",
    ),
    ("OOM", "raise maxmemory, or move other data away"),
    (
        "MISCONF",
        "check the server's log and disk: INFO persistence shows what failed",
    ),
    ("LOADING", "wait until the server has loaded its data"),
    (
        "READONLY",
        "use the address of the primary, or of sentinels",
    ),
    (
        "CLUSTERDOWN",
        "CLUSTER NODES shows which primaries are away",
    ),
    (
        "cluster is down",
        "CLUSTER NODES shows which primaries are away",
    ),
    (
        "NOREPLICAS",
        "bring replicas back, or CONFIG SET min-replicas-to-write 0",
    ),
    (
        "BUSY",
        "a slow script of another program runs: SCRIPT KILL ends it",
    ),
    (
        "replicas acknowledged",
        "bring replicas back, or lower wait_replicas",
    ),
    (
        "nknown command",
        "use a server, or a plan of your provider, that has this command: locks cannot do without it",
    ),
];

/// The words by which services refuse scripts.
const NO_SCRIPTS: [&str; 3] = ["eval", "script", "not support"];

/// What to change about an error, for a user of this role.
pub(crate) fn of(text: &str, role: Role) -> String {
    if is_denial(text) {
        let acl = format!(
            "`lockctl acl {}` prints the rights that it needs",
            role.name()
        );
        return match denied(text) {
            Some(right) => format!("grant {right} to the user: {acl}"),
            None => format!("{acl}; ACL LOG on the server names what it refused"),
        };
    }
    let remedy = REMEDIES.iter().find(|(word, _)| text.contains(word));
    if let Some((_, remedy)) = remedy {
        return (*remedy).to_owned();
    }
    let lower = text.to_ascii_lowercase();
    if NO_SCRIPTS.iter().any(|word| lower.contains(word)) {
        return "use a server, or a plan of your provider, that runs Lua scripts (EVAL, EVALSHA)"
            .to_owned();
    }
    "check the URL, the network and the server's log".to_owned()
}

/// Returns whether the server refuses because the user lacks a right, in a command or in a script.
pub(crate) fn is_denial(text: &str) -> bool {
    const WORDS: [&str; 4] = [
        "NOPERM",
        "o permissions",
        "ACL failure",
        "user executing the script can't",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

/// Returns the right that the server names; `None` if it names none, or only says that it was a key's.
fn denied(text: &str) -> Option<String> {
    let command = text.split_once("run the '");
    if let Some((command, _)) = command.and_then(|(_, rest)| rest.split_once('\'')) {
        return Some(format!("+{command}"));
    }
    text.contains("channel").then(|| CHANNELS.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of Redis 7.0 and 8.0, Valkey 8.1 and 9.1, and of services that refuse scripts.
    #[test]
    fn advice_goes_by_the_error() {
        for (text, words) in [
            (
                "NOPERM this user has no permissions to run the 'zscore' command",
                "grant +zscore to",
            ),
            (
                "ERR ACL failure in script: User app has no permissions to run the 'zadd' command",
                "grant +zadd to",
            ),
            ("NOPERM No permissions to access a channel", "grant &lock:*"),
            (
                "NOPERM this user has no permissions to access one of the channels used as arguments",
                "grant &lock:*",
            ),
            (
                "NOPERM No permissions to access a key",
                "`lockctl acl service`",
            ),
            (
                "ERR The user executing the script can't run this command or subcommand",
                "ACL LOG",
            ),
            (
                "OOM command not allowed when used memory > 'maxmemory'",
                "raise maxmemory",
            ),
            (
                "MISCONF Redis is configured to save RDB",
                "INFO persistence",
            ),
            ("READONLY You can't write", "primary"),
            ("WRONGPASS invalid username-password pair", "password"),
            ("ERR unknown command 'WAIT'", "has this command"),
            (
                "ERR command eval not support for normal user",
                "Lua scripts",
            ),
            ("ERR unsupported command `eval`", "Lua scripts"),
            ("ERR Could not find scripting engine 'lua'", "Lua scripts"),
            ("cannot connect to 127.0.0.1:1", "the network"),
        ] {
            let advice = of(text, Role::Service);
            assert!(advice.contains(words), "{text}: {advice}");
        }
    }
}
