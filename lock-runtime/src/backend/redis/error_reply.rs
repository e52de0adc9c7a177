//! Classifies the errors of servers and connections, and describes them.

use std::io;

use redis::{RedisError, ServerError};

use super::redirect::Redirect;
use crate::backend::wire::error::WireError;
use crate::lease::owner_id::OwnerId;
use crate::state::is_printable;

/// How to continue after a command was answered with an error.
pub(super) enum ErrorClass {
    /// The server lacks the script, which must be sent with its source.
    NoScript,
    /// The server has become a replica, it has forgotten the login, or the connection is broken. Reconnect.
    Reconnect(String),
    /// Another node has the lock. Nothing was carried out.
    Redirected(Redirect),
    /// The records of the lock are on two nodes while its slot moves. Nothing was carried out.
    SlotMoves(String),
    /// The server cannot carry the command out right now, and has done nothing.
    NotNow(String),
    /// Report the error.
    Final(WireError),
}

/// The codes of temporary errors.
const TRANSIENT: [&str; 3] = ["BUSY", "NOREPLICAS", "UNKILLABLE"];

/// The codes of errors that last only moments: a primary is being elected, or a server is starting.
const SHORT: [&str; 3] = ["LOADING", "CLUSTERDOWN", "MASTERDOWN"];

/// The codes of errors about the login of a connection. In the answer to the login itself they are final; later on they
/// mean that the server has forgotten it, which the next connection, with the credentials of that time, may mend.
const LOST_LOGIN: [&str; 2] = ["NOAUTH", "WRONGPASS"];

/// The error of `WAIT` on a server that has become a replica.
const WAIT_ON_REPLICA: &str = "WAIT cannot be used with replica";

/// Errors without a code, from a command in a script.
const DOWN_IN_SCRIPT: &str = "cluster is down";
const MOVES_IN_SCRIPT: &str = "access a non local key";

pub(super) fn classify(error: &RedisError) -> ErrorClass {
    let Some(code) = error.code() else {
        return ErrorClass::Reconnect(describe(error));
    };
    let detail = error.detail().unwrap_or_default();
    if let Some(redirect) = Redirect::parse(code, detail) {
        return ErrorClass::Redirected(redirect);
    }
    let text = sanitize(&format!("{code} {detail}"));
    if let Some(sentence) = sentence(&text) {
        return ErrorClass::Final(WireError::refused(sentence));
    }
    match text.split(' ').next().unwrap_or_default() {
        "NOSCRIPT" => ErrorClass::NoScript,
        "READONLY" => ErrorClass::Reconnect(text),
        code if LOST_LOGIN.contains(&code) => ErrorClass::Reconnect(text),
        _ if text.contains(WAIT_ON_REPLICA) => ErrorClass::Reconnect(text),
        code if code == "TRYAGAIN" || text.contains(MOVES_IN_SCRIPT) => ErrorClass::SlotMoves(text),
        code if SHORT.contains(&code) || text.contains(DOWN_IN_SCRIPT) => ErrorClass::NotNow(text),
        code if TRANSIENT.contains(&code) || text.contains("max number of clients") => {
            ErrorClass::Final(WireError::unavailable(text))
        }
        _ => ErrorClass::Final(WireError::refused(text)),
    }
}

/// Returns whether the server does not know, or no longer, who is logged in on the connection.
pub(super) fn is_of_a_lost_login(error: &RedisError) -> bool {
    error.code().is_some_and(|code| LOST_LOGIN.contains(&code))
}

/// The codes of refusals because of the server's memory or disk.
const SERVER_IS_FULL: [&str; 2] = ["MISCONF", "OOM"];

/// Returns whether the server has no room for a command that writes.
pub(super) fn is_of_a_full_server(error: &RedisError) -> bool {
    SERVER_IS_FULL.contains(&&*code_of(error))
}

/// Returns whether the error is known to say nothing about the commands that the user may run: the server is full, a
/// record has another type, or a script of ours has given it.
pub(super) fn leaves_rights_as_they_are(error: &RedisError) -> bool {
    let code = code_of(error);
    SERVER_IS_FULL.contains(&&*code) || code == "WRONGTYPE" || code.starts_with("LOCK")
}

/// Returns the code of an error, also of a command in a script.
fn code_of(error: &RedisError) -> String {
    let (code, detail) = (error.code(), error.detail());
    let mut text = sanitize(&format!(
        "{} {}",
        code.unwrap_or_default(),
        detail.unwrap_or_default()
    ));
    text.truncate(text.find(' ').unwrap_or(text.len()));
    text
}

/// The error for an option that the server does not know.
const UNKNOWN_OPTION: &str = "ERR syntax error";

/// Returns a clearer sentence for a server's text that does not explain what to do. The text of protected mode is a
/// page long.
fn sentence(text: &str) -> Option<&'static str> {
    if text == UNKNOWN_OPTION {
        return Some(
            "the server lacks an option of a command that the scripts call; Redis 6.2 or Valkey is needed",
        );
    }
    if text.split(' ').next() == Some("DENIED") {
        return Some(
            "the server is in protected mode, and only lets in programs of its own machine: give it a password or a \
             user, or an address to bind to",
        );
    }
    None
}

/// Describes an error during the setup. `password` is the password that was sent, if any.
pub(super) fn describe_setup(error: &RedisError, password: Option<&str>) -> WireError {
    match classify(error) {
        ErrorClass::Final(WireError::Refused(detail)) => {
            let text = detail.to_string();
            match error.code() {
                Some("NOPROTO") => WireError::refused(NO_RESP3),
                _ if is_unknown_command(&text, "hello") => WireError::refused(NO_RESP3),
                _ => WireError::Refused(detail),
            }
        }
        ErrorClass::Final(error) => error,
        ErrorClass::NoScript => WireError::unavailable("NOSCRIPT"),
        ErrorClass::Redirected(_) => WireError::refused(OF_A_CLUSTER),
        ErrorClass::Reconnect(_) if error.code() == Some("NOAUTH") && password.is_none() => {
            WireError::refused("the server wants a password, and the URL has none (NOAUTH)")
        }
        ErrorClass::Reconnect(detail) if is_of_a_lost_login(error) => WireError::refused(detail),
        ErrorClass::Reconnect(detail)
        | ErrorClass::SlotMoves(detail)
        | ErrorClass::NotNow(detail) => WireError::unavailable(detail),
    }
}

/// Describes an error in the answer to the login. Only some of them mean that the next login fails, too: a service that
/// checks passwords elsewhere may be unable to do so for a moment, and has its own words for that.
pub(super) fn describe_login(error: &RedisError, password: Option<&str>) -> WireError {
    match describe_setup(error, password) {
        WireError::Refused(detail) if !is_final_for_a_login(error, &detail.to_string()) => {
            WireError::Unavailable(detail)
        }
        error => error,
    }
}

fn is_final_for_a_login(error: &RedisError, description: &str) -> bool {
    let codes = ["WRONGPASS", "NOAUTH", "NOPERM", "NOPROTO", "DENIED"];
    let words = error.detail().unwrap_or_default().to_ascii_lowercase();
    error.code().is_some_and(|code| codes.contains(&code))
        || FINAL_FOR_A_LOGIN.iter().any(|said| words.contains(said))
        || description == NO_RESP3
}

/// What services say that have no code for a wrong password, and servers that lack an option of the login.
const FINAL_FOR_A_LOGIN: [&str; 3] = [
    "invalid password",
    "invalid username-password",
    "syntax error",
];

/// The error if the URL expects one server with all locks, and finds a node of a cluster.
pub(super) const OF_A_CLUSTER: &str =
    "the server is part of a cluster; the URL must begin with redis-cluster://";

/// Refused, since no retry helps.
const NO_RESP3: &str = "the server does not speak RESP3; Redis 6.2 or Valkey is needed";

/// Returns whether the error means that the server does not have `command`.
fn is_unknown_command(text: &str, command: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("unknown command") && text.contains(command)
}

/// Describes why a connection broke, as a part of a sentence.
pub(super) fn describe_broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => format!("the connection broke: {error}"),
    }
}

/// Describes an error of the client library. It names the operation, but never its arguments.
pub(super) fn describe(error: &RedisError) -> String {
    sanitize(&error.to_string())
}

/// Returns an error in an array of answers, in the server's own words. The library's text of it has other names for codes.
pub(super) fn words_of(error: &ServerError) -> String {
    let details = error.details().unwrap_or_default();
    sanitize(&format!("{} {details}", error.code()))
}

/// How many characters of a server's text are shown.
const LONGEST: usize = 200;

/// Reduces a server's text to a part of a sentence: one line of limited length, without control characters and full
/// stop.
///
/// Errors and logs show it, so it must not repeat a command's arguments, which may be an owner or a password, and
/// always include a key.
pub(super) fn sanitize(text: &str) -> String {
    let text = text.split(ARGUMENTS).next().unwrap_or_default();
    let text = without_position(without_script(text));
    let words = text.split(|c: char| c.is_whitespace() || !is_printable(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text = without_secrets(&words.join(" "));
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.trim_end_matches('.').to_owned(),
    }
}

/// Precedes the arguments in the error about an unknown command.
const ARGUMENTS: &str = ", with args beginning with";

/// Strips ` script: <digest>, on @user_script:33.` from the end, where the server names the script that failed. Valkey 9
/// names no digest. The words `ACL failure in script: User app …` remain.
fn without_script(text: &str) -> &str {
    let is_name = |name: &str| {
        let digest = name.split(", on @").next().unwrap_or_default();
        name.strip_prefix("on @").is_some() || !digest.contains(char::is_whitespace)
    };
    match text.rsplit_once(" script: ") {
        Some((error, name)) if is_name(name) => error,
        _ => text,
    }
}

/// Returns the error of a command in a script, without its position in the script.
///
/// Redis 7.0 reports `ERR user_script:1: attempt …`. Older servers wrap the error of every command, so that its code is
/// not the first word: `ERR Error running script (call to f_<digest>): @user_script:33: @user_script: 33: -OOM …`.
fn without_position(text: &str) -> String {
    let outer = text.strip_prefix("ERR ").unwrap_or(text);
    let mut error = outer;
    while let Some(inner) = strip_wrapper(error).or_else(|| strip_position(error)) {
        error = inner;
    }
    if error.len() == outer.len() {
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

/// Strips `Error running script (call to f_<digest>): `.
fn strip_wrapper(text: &str) -> Option<&str> {
    let digest = text.strip_prefix("Error running script (call to f_")?;
    Some(digest.split_once("): ")?.1)
}

/// Strips `@user_script:33: `, also without the `@` and with a space before the number.
fn strip_position(text: &str) -> Option<&str> {
    let text = text.strip_prefix('@').unwrap_or(text);
    let line = text.strip_prefix("user_script:")?.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(": ")
}

/// Replaces each word that may be an owner or a digest, in case a server or a proxy repeats one. A server's own words
/// never have this length and only these characters.
fn without_secrets(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let word = &rest[start..];
        let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
        shown.push_str(&rest[..start]);
        shown.push_str(if end < OwnerId::LEN {
            &word[..end]
        } else {
            "…"
        });
        rest = &word[end..];
    }
    shown + rest
}

#[cfg(test)]
mod tests;
