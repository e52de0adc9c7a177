//! What an error of the server, or of the way to it, means for a lock.

use std::io;

use redis::RedisError;

use crate::backend::wire::error::WireError;
use crate::lease::owner_id::OwnerId;

/// What becomes of a command that was answered with an error.
pub(super) enum ErrorClass {
    /// The server does not know the script: send it whole.
    NoScript,
    /// The server has become a replica, or the connection is broken: connect anew.
    Reconnect(String),
    /// As it is.
    Final(WireError),
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

pub(super) fn classify(error: &RedisError) -> ErrorClass {
    let Some(code) = error.code() else {
        return ErrorClass::Reconnect(describe(error));
    };
    let detail = error.detail().unwrap_or_default();
    let text = as_part(&format!("{code} {detail}"));
    match text.split(' ').next().unwrap_or_default() {
        "NOSCRIPT" => ErrorClass::NoScript,
        "READONLY" => ErrorClass::Reconnect(text),
        code if PASSING.contains(&code) || text.contains("max number of clients") => {
            ErrorClass::Final(WireError::unavailable(text))
        }
        _ => ErrorClass::Final(WireError::refused(text)),
    }
}

/// What went wrong while a connection was set up, with or without a password.
pub(super) fn describe_setup(error: &RedisError, password: Option<&str>) -> WireError {
    match classify(error) {
        ErrorClass::Final(WireError::Refused(detail)) => {
            let text = detail.to_string();
            match error.code() {
                Some("NOPROTO") => WireError::refused(NO_RESP3),
                Some("NOAUTH") if password.is_none() => {
                    WireError::refused("the server wants a password, and the URL has none")
                }
                _ if is_unknown(&text, "hello") => WireError::refused(NO_RESP3),
                _ => WireError::Refused(detail),
            }
        }
        ErrorClass::Final(fault) => fault,
        ErrorClass::NoScript => WireError::unavailable("NOSCRIPT"),
        ErrorClass::Reconnect(detail) => WireError::unavailable(detail),
    }
}

/// It will not learn it before it is asked again.
const NO_RESP3: &str = "the server does not speak RESP3; Redis 6.2 or Valkey is needed";

/// Whether a server says that it does not know this command.
fn is_unknown(text: &str, command: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("unknown command") && text.contains(command)
}

/// Why a connection broke, as a part of a sentence.
pub(super) fn describe_broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => format!("the connection broke: {error}"),
    }
}

/// An error of the client library in words: it names the operation, never its arguments.
pub(super) fn describe(error: &RedisError) -> String {
    as_part(&error.to_string())
}

/// What a server said, as a part of a sentence: in its own words and not in ours, on one line and without
/// a full stop. Errors and logs show it, so what was sent to the server must not come back in it: the
/// arguments of a command are an owner or a password, and always a key.
fn as_part(text: &str) -> String {
    let text = text.split(ARGUMENTS).next().unwrap_or_default();
    let text = text.split(" script: ").next().unwrap_or_default();
    let text = outside_of_script(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = without_secrets(&words.join(" "));
    text.trim_end_matches('.').to_owned()
}

/// After this a server repeats the arguments of a command that it does not know.
const ARGUMENTS: &str = ", with args beginning with";

/// The error of a script without its place there. 7.0 says `ERR user_script:1: attempt …`, and servers
/// before it wrap the error of every command, so that it is not known by its code any more:
/// `ERR Error running script (call to f_<digest>): @user_script:33: @user_script: 33: -OOM …`.
fn outside_of_script(text: &str) -> String {
    let said = text.strip_prefix("ERR ").unwrap_or(text);
    let mut error = said;
    while let Some(inner) = unwrapped(error).or_else(|| after_place(error)) {
        error = inner;
    }
    if error.len() == said.len() {
        return text.to_owned();
    }
    let error = error.strip_prefix('-').unwrap_or(error);
    let first = error.split(' ').next().unwrap_or_default();
    let is_code = first.len() > 1 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_code {
        error.to_owned()
    } else {
        format!("ERR {error}")
    }
}

fn unwrapped(text: &str) -> Option<&str> {
    let named = text.strip_prefix("Error running script (call to f_")?;
    Some(named.split_once("): ")?.1)
}

/// What follows `@user_script:33: `, also without the `@` and with a space before the number.
fn after_place(text: &str) -> Option<&str> {
    let text = text.strip_prefix('@').unwrap_or(text);
    let line = text.strip_prefix("user_script:")?.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(": ")
}

/// Whatever else a server, or a proxy before it, may repeat: no word of theirs is as long as an owner or
/// a digest is, and made of the same characters.
fn without_secrets(text: &str) -> String {
    let is_secret = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_secret) {
        let run = &rest[start..];
        let end = run.find(|c| !is_secret(c)).unwrap_or(run.len());
        shown.push_str(&rest[..start]);
        shown.push_str(if end < OwnerId::LEN {
            &run[..end]
        } else {
            "…"
        });
        rest = &run[end..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error as it is read from the wire.
    fn error(line: &str) -> RedisError {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        value.extract_error().unwrap_err()
    }

    fn fault(line: &str) -> WireError {
        match classify(&error(line)) {
            ErrorClass::Final(fault) => fault,
            ErrorClass::NoScript => panic!("{line} is read as NOSCRIPT"),
            ErrorClass::Reconnect(_) => panic!("{line} reconnects"),
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
            let WireError::Refused(text) = fault(line) else {
                panic!("{line} is not refused")
            };
            assert_eq!(text.to_string(), line.trim_end_matches('.'));
        }
    }

    #[test]
    fn a_text_becomes_a_part_of_a_sentence() {
        let WireError::Refused(text) = fault(
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

    /// As 6.2 reports the error of a command in a script.
    fn wrapped(text: &str) -> String {
        format!("ERR Error running script (call to f_{SHA}): @user_script:40: {text}")
    }

    #[test]
    fn an_error_of_a_command_in_a_script_is_what_it_is_on_an_old_server_too() {
        for (line, text) in [
            (
                wrapped("WRONGTYPE Operation against a key holding the wrong kind of value"),
                "WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                wrapped(
                    "@user_script: 40: -OOM command not allowed when used memory > 'maxmemory'.",
                ),
                "OOM command not allowed when used memory > 'maxmemory'",
            ),
            (
                wrapped("ERR value is not an integer or out of range"),
                "ERR value is not an integer or out of range",
            ),
            (
                wrapped("@user_script: 40: The user executing the script can't run this command"),
                "ERR The user executing the script can't run this command",
            ),
            (
                wrapped("user_script:40: attempt to index local 'x' (a nil value)"),
                "ERR attempt to index local 'x' (a nil value)",
            ),
            (
                format!(
                    "ERR user_script:9: attempt to call a nil value script: {SHA}, on @user_script:9."
                ),
                "ERR attempt to call a nil value",
            ),
            (
                "@user_script: 1: The user can't publish to the channel".to_owned(),
                "ERR The user can't publish to the channel",
            ),
        ] {
            let WireError::Refused(said) = fault(&line) else {
                panic!("{line} is not refused")
            };
            assert_eq!(said.to_string(), text);
        }
        let few = wrapped("@user_script: 40: -NOREPLICAS Not enough good replicas to write.");
        assert!(matches!(fault(&few), WireError::Unavailable(_)));
    }

    const OWNER: &str = "YUjQMhVbRDckXk5WZC0tRp";
    const SHA: &str = "223c1f8f4cfba6f3375f8c4ec02b9de4361a5dea";

    /// What servers say, from Redis 5 to 8 and Valkey 8 to 9, and proxies before them: with `{arguments}`
    /// for what they were sent.
    const SAID: &[&str] = &[
        "ERR unknown command `EVALSHA`, with args beginning with: {arguments}",
        "ERR unknown command 'EVALSHA', with args beginning with: {arguments}",
        "ERR unknown command 'hello', with args beginning with: {arguments}",
        "ERR unknown command `HELLO`, with args beginning with: {arguments}",
        "ERR unknown subcommand 'FOO'. Try CLIENT HELP.",
        "ERR Unknown subcommand or wrong number of arguments for 'FOO'. Try CLIENT HELP.",
        "ERR wrong number of arguments for 'evalsha' command",
        "ERR Syntax error in HELLO option 'AUTH'",
        "ERR DB index is out of range",
        "ERR max number of clients reached",
        "ERR Protocol error: invalid bulk length",
        "ERR Unknown Redis command called from script script: {sha}, on @user_script:1.",
        "ERR Unknown command called from script script: on @user_script:1.",
        "ERR unknown subcommand 'FOO'. Try CLIENT HELP. script: on @user_script:1.",
        "ERR Wrong number of args calling Redis command from script script: {sha}, on @user_script:1.",
        "ERR value is not an integer or out of range script: {sha}, on @user_script:1.",
        "ERR user_script:1: x {arguments} script: {sha}, on @user_script:1.",
        "ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'",
        "ERR Error running script (call to f_{sha}): @user_script:1: WRONGTYPE Operation against a key",
        "ERR Error running script (call to f_{sha}): @user_script:1: @user_script: 1: -OOM command not \
         allowed when used memory > 'maxmemory'.",
        "ERR Error running script (call to f_{sha}): @user_script:1: user_script:1: x {arguments}",
        "ERR Error running script (call to f_{sha}",
        "@user_script: 1: The user executing the script can't access at least one of the keys",
        "ERR ACL failure in script: No permissions to access a key script: {sha}, on @user_script:1.",
        "ERR The user executing the script can't run this command script: {sha}, on @user_script:1.",
        "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand",
        "NOPERM this user has no permissions to access one of the keys used as arguments",
        "NOPERM User app has no permissions to run the 'evalsha' command",
        "NOPERM No permissions to access a key",
        "NOPERM No permissions to access a channel",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> \
         AUTH <user> <pass> option can be used to authenticate the client",
        "NOPROTO unsupported protocol version",
        "MOVED 10564 127.0.0.1:7001",
        "ASK 10564 127.0.0.1:7001",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "CLUSTERDOWN Hash slot not served",
        "READONLY You can't write against a read only replica. script: {sha}, on @user_script:1.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist.",
        "NOSCRIPT No matching script. Please use EVAL.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "ERR upstream failure for {arguments}",
    ];

    #[test]
    fn what_was_sent_does_not_come_back_whatever_a_server_says() {
        // A key and a password of another kind are known by their place alone.
        for arguments in [
            format!("`{SHA}`, `1`, `lock:order:42`, `{OWNER}`, "),
            format!("'{SHA}' '1' 'lock:order:42' '{OWNER} api-7 (pid 4121)' '5000'"),
            "`3`, `AUTH`, `app`, `s3cret`, ".to_owned(),
        ] {
            for said in SAID {
                let by_place = said.contains(ARGUMENTS);
                let line = said
                    .replace("{arguments}", &arguments)
                    .replace("{sha}", SHA);
                let error = error(&line);
                let mut texts = vec![as_part(&line), describe_setup(&error, None).to_string()];
                match classify(&error) {
                    ErrorClass::NoScript => {}
                    ErrorClass::Reconnect(text) => texts.push(text),
                    ErrorClass::Final(fault) => texts.push(fault.to_string()),
                }
                for text in texts {
                    assert!(
                        !text.contains(OWNER) && !text.contains(&OWNER[8..]),
                        "{text}"
                    );
                    assert!(!text.contains(SHA), "{text}");
                    assert!(
                        !text.contains("user_script") || text.contains("compiling"),
                        "{text}"
                    );
                    if by_place {
                        assert!(
                            !text.contains("order") && !text.contains("s3cret"),
                            "{text}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_word_that_may_be_a_secret_is_not_shown() {
        assert_eq!(
            without_secrets(&format!("for `{OWNER}`, {SHA}.")),
            "for `…`, …."
        );
        assert_eq!(without_secrets(&OWNER[1..]), &OWNER[1..]);
        assert_eq!(without_secrets("über 'maxmemory'"), "über 'maxmemory'");
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
            assert!(matches!(fault(line), WireError::Unavailable(_)), "{line}");
        }
    }

    #[test]
    fn a_replica_and_an_unknown_script_have_a_way_out() {
        let read_only = error("READONLY You can't write against a read only replica.");
        assert!(matches!(classify(&read_only), ErrorClass::Reconnect(_)));
        let wrapped = wrapped("@user_script: 40: -READONLY You can't write against a replica.");
        assert!(matches!(
            classify(&error(&wrapped)),
            ErrorClass::Reconnect(_)
        ));
        let unknown = error("NOSCRIPT No matching script. Please use EVAL.");
        assert!(matches!(classify(&unknown), ErrorClass::NoScript));
    }

    #[test]
    fn a_wrong_password_is_refused_at_once() {
        let wrong = error("WRONGPASS invalid username-password pair or user is disabled.");
        assert!(matches!(
            describe_setup(&wrong, Some("x")),
            WireError::Refused(_)
        ));
    }

    /// What is said of an error in setting up.
    fn refusal(error: &RedisError, password: Option<&str>) -> String {
        match describe_setup(error, password) {
            WireError::Refused(detail) => detail.to_string(),
            WireError::Unavailable(detail) => panic!("it is asked again: {detail}"),
        }
    }

    #[test]
    fn a_server_without_resp3_is_not_asked_again() {
        for line in [
            "NOPROTO unsupported protocol version",
            "NOPROTO sorry, this protocol version is not supported.",
            "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'app' 's3cret'",
            "ERR unknown command 'hello'",
            "ERR unknown command `hello`, with args beginning with: `3`, ",
        ] {
            assert_eq!(refusal(&error(line), None), NO_RESP3, "{line}");
        }
    }

    #[test]
    fn a_missing_password_is_named() {
        let error = error("NOAUTH HELLO must be called with the client already authenticated");
        let missing = "the server wants a password, and the URL has none";
        assert_eq!(refusal(&error, None), missing);
        assert!(refusal(&error, Some("x")).starts_with("NOAUTH"));
    }
}
