//! Commands about the server itself, with the few options that tests send.

use super::{named, option, unknown_subcommand, wrong_count};
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::Bytes;

pub(super) fn ping(_: &mut State, words: &[Bytes]) -> Outcome {
    match words {
        [] => Ok(Reply::Status(b"PONG".to_vec())),
        [text] => Ok(Reply::Bulk(text.clone())),
        _ => fail(wrong_count("ping")),
    }
}

/// `ACL SETUSER user rule …`, where a rule is `-command`, `+command` or `resetchannels`. All connections are one user's.
pub(super) fn acl(state: &mut State, words: &[Bytes]) -> Outcome {
    let ("SETUSER", [_, rules @ ..]) = (&*option(&words[0]), &words[1..]) else {
        return unknown_subcommand("ACL", &words[0]);
    };
    for rule in rules {
        let text = option(rule);
        // Without channels, no message can be published.
        let text = if text == "RESETCHANNELS" {
            "-PUBLISH"
        } else {
            &text
        };
        let (sign, name) = text.split_at_checked(1).unwrap_or_default();
        match (sign, named(name.as_bytes(), state.deletion)) {
            ("-", Some(command)) => state.denied.insert(command.name.to_owned()),
            ("+", Some(command)) => state.denied.remove(command.name),
            _ => {
                let rule = String::from_utf8_lossy(rule);
                return fail(format!(
                    "ERR Error in ACL SETUSER modifier '{rule}': Syntax error"
                ));
            }
        };
    }
    Ok(Reply::ok())
}

/// `COMMAND INFO name …`, with the first two facts of each: its name and its arity.
pub(super) fn command(state: &mut State, words: &[Bytes]) -> Outcome {
    let [subcommand, names @ ..] = words else {
        return fail(wrong_count("command"));
    };
    if option(subcommand) != "INFO" || names.is_empty() {
        return unknown_subcommand("COMMAND", subcommand);
    }
    let facts = |name: &Bytes| match named(name, state.deletion) {
        Some(command) => Reply::Array(vec![
            Reply::text(command.name.to_ascii_lowercase()),
            Reply::Integer(command.arity as i64),
        ]),
        None => Reply::Nil,
    };
    Ok(Reply::Array(names.iter().map(facts).collect()))
}

/// `CONFIG SET maxmemory bytes`. The fake counts no bytes: it is full if there is a limit.
pub(super) fn config(state: &mut State, words: &[Bytes]) -> Outcome {
    match (&*option(&words[0]), &words[1..]) {
        ("SET", [name, bytes]) if option(name) == "MAXMEMORY" => {
            state.is_full = bytes != b"0";
            Ok(Reply::ok())
        }
        ("SET", [name, ..]) => fail(format!(
            "ERR Unknown option or number of arguments for CONFIG SET - '{}'",
            String::from_utf8_lossy(name)
        )),
        _ => unknown_subcommand("CONFIG", &words[0]),
    }
}
