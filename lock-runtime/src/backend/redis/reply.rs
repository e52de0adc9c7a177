//! What an error of the server, or of the way to it, means for a lock.

use redis::{RedisError, ServerErrorKind};

use crate::backend::wire::Fault;

/// What becomes of a command that was answered with an error.
pub(super) enum Verdict {
    /// The server does not know the script: send it whole.
    NoScript,
    /// The server has become a replica, or the connection is broken: connect anew.
    Reconnect(String),
    /// As it is.
    Fault(Fault),
}

/// Errors by which a server says that it cannot *now*.
const PASSING: [&str; 7] = [
    "LOADING",
    "BUSY",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "MASTERDOWN",
    "NOREPLICAS",
    "UNKILLABLE",
];

pub(super) fn judge(error: &RedisError) -> Verdict {
    let Some(code) = error.code() else {
        return Verdict::Reconnect(describe(error));
    };
    let detail = error.detail().unwrap_or_default();
    let text = as_part(&format!("{code} {detail}"));
    match error.kind() {
        redis::ErrorKind::Server(ServerErrorKind::NoScript) => Verdict::NoScript,
        redis::ErrorKind::Server(ServerErrorKind::ReadOnly) => Verdict::Reconnect(text),
        // Before 7.0 a server wrapped the errors of a script's commands in a text of its own.
        _ if detail.contains("READONLY") => Verdict::Reconnect(text),
        _ if PASSING.contains(&code) || detail.contains("max number of clients") => {
            Verdict::Fault(Fault::unavailable(text))
        }
        _ => Verdict::Fault(Fault::refused(text)),
    }
}

/// What went wrong while a connection was set up.
pub(super) fn judge_setup(error: &RedisError) -> Fault {
    match judge(error) {
        Verdict::Fault(fault) => fault,
        Verdict::NoScript => Fault::unavailable("NOSCRIPT"),
        Verdict::Reconnect(detail) => match error.kind() {
            redis::ErrorKind::AuthenticationFailed => Fault::refused(detail),
            _ => Fault::unavailable(detail),
        },
    }
}

/// An error of the client library in words: it names the operation, never its arguments.
pub(super) fn describe(error: &RedisError) -> String {
    as_part(&error.to_string())
}

/// A text as a part of a sentence: on one line, without a full stop, and without the place in the
/// script that a server adds.
fn as_part(text: &str) -> String {
    let text = text.split(" script: ").next().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error as it is read from the wire.
    fn error(line: &str) -> RedisError {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        value.extract_error().unwrap_err()
    }

    fn fault(line: &str) -> Fault {
        match judge(&error(line)) {
            Verdict::Fault(fault) => fault,
            Verdict::NoScript => panic!("{line} is read as NOSCRIPT"),
            Verdict::Reconnect(_) => panic!("{line} reconnects"),
        }
    }

    #[test]
    fn refusals_are_final_and_keep_their_text() {
        for line in [
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "NOPERM User app has no permissions to run the 'evalsha' command",
            "ERR The user executing the script can't run this command or subcommand",
            "LOCKQUEUEFULL too many waiters",
            "LOCKFENCE the fence is not a number below 2^53 - 32",
            "NOAUTH Authentication required.",
        ] {
            let Fault::Refused(text) = fault(line) else {
                panic!("{line} is not refused")
            };
            assert_eq!(text.to_string(), line.trim_end_matches('.'));
        }
    }

    #[test]
    fn a_text_becomes_a_part_of_a_sentence() {
        let Fault::Refused(text) = fault(
            "WRONGTYPE Wrong kind of value script: 6940fcf406ef057d911de956, on @user_script:118.",
        ) else {
            panic!("it is refused")
        };
        assert_eq!(text.to_string(), "WRONGTYPE Wrong kind of value");
        assert_eq!(
            as_part("Parse error\nUnexpected `8`\n"),
            "Parse error Unexpected `8`"
        );
    }

    #[test]
    fn what_passes_is_unavailable() {
        for line in [
            "LOADING Redis is loading the dataset in memory",
            "BUSY Redis is busy running a script.",
            "TRYAGAIN Multiple keys request during rehashing of slot",
            "CLUSTERDOWN Hash slot not served",
            "ERR max number of clients reached",
        ] {
            assert!(matches!(fault(line), Fault::Unavailable(_)), "{line}");
        }
    }

    #[test]
    fn a_replica_and_an_unknown_script_have_a_way_out() {
        let read_only = error("READONLY You can't write against a read only replica.");
        assert!(matches!(judge(&read_only), Verdict::Reconnect(_)));
        let wrapped = error("ERR Error running script: READONLY You can't write against a replica");
        assert!(matches!(judge(&wrapped), Verdict::Reconnect(_)));
        let unknown = error("NOSCRIPT No matching script. Please use EVAL.");
        assert!(matches!(judge(&unknown), Verdict::NoScript));
    }

    #[test]
    fn a_wrong_password_is_refused_at_once() {
        let wrong = error("WRONGPASS invalid username-password pair or user is disabled.");
        assert!(matches!(judge_setup(&wrong), Fault::Refused(_)));
    }
}
