//! The commands, on plain data.

mod command;
mod hashes;
mod keys;
mod lists;
mod messages;
pub(crate) mod numbers;
mod scripts;
mod settings;
mod sorted_sets;
mod streams;
mod strings;

use crate::reply::{Reply, fail};
use crate::state::Deletion;

use command::Keys;
pub(crate) use command::{Command, Effect};

const SYNTAX: &str = "ERR syntax error";

const COMMANDS: &[Command] = &[
    // Any key.
    Command::writes("DEL", keys::del, -2, Keys::All),
    Command::reads("DUMP", keys::dump, 2, Keys::First),
    Command::reads("EXISTS", keys::exists, -2, Keys::All),
    Command::writes("FLUSHALL", keys::flushall, -1, Keys::None),
    Command::reads("KEYS", keys::keys, 2, Keys::None),
    Command::writes("PERSIST", keys::persist, 2, Keys::First),
    Command::writes("PEXPIRE", keys::pexpire, -3, Keys::First),
    Command::writes("PEXPIREAT", keys::pexpireat, -3, Keys::First),
    Command::reads("PEXPIRETIME", keys::pexpiretime, 2, Keys::First),
    Command::reads("PTTL", keys::pttl, 2, Keys::First),
    Command::reads("TIME", keys::time, 1, Keys::None),
    Command::reads("TYPE", keys::kind, 2, Keys::First),
    // Strings.
    Command::writes("DELEX", strings::delex, -2, Keys::First),
    Command::writes("DELIFEQ", strings::delifeq, 3, Keys::First),
    Command::reads("GET", strings::get, 2, Keys::First),
    Command::reads("GETRANGE", strings::getrange, 4, Keys::First),
    Command::grows("SET", strings::set, -3, Keys::First),
    Command::grows("SETRANGE", strings::setrange, 4, Keys::First),
    Command::reads("STRLEN", strings::strlen, 2, Keys::First),
    // Sorted sets.
    Command::grows("ZADD", sorted_sets::zadd, -4, Keys::First),
    Command::reads("ZCARD", sorted_sets::zcard, 2, Keys::First),
    Command::reads("ZCOUNT", sorted_sets::zcount, 4, Keys::First),
    Command::reads("ZMSCORE", sorted_sets::zmscore, -3, Keys::First),
    Command::reads("ZRANGE", sorted_sets::zrange, -4, Keys::First),
    Command::reads("ZRANGEBYSCORE", sorted_sets::zrangebyscore, -4, Keys::First),
    Command::reads("ZRANK", sorted_sets::zrank, 3, Keys::First),
    Command::writes("ZREM", sorted_sets::zrem, -3, Keys::First),
    Command::writes(
        "ZREMRANGEBYSCORE",
        sorted_sets::zremrangebyscore,
        4,
        Keys::First,
    ),
    Command::reads("ZREVRANGE", sorted_sets::zrevrange, -4, Keys::First),
    Command::reads("ZSCORE", sorted_sets::zscore, 3, Keys::First),
    // Hashes.
    Command::writes("HDEL", hashes::hdel, -3, Keys::First),
    Command::reads("HEXISTS", hashes::hexists, 3, Keys::First),
    Command::reads("HGET", hashes::hget, 3, Keys::First),
    Command::reads("HGETALL", hashes::hgetall, 2, Keys::First),
    Command::grows("HINCRBY", hashes::hincrby, 4, Keys::First),
    Command::reads("HKEYS", hashes::hkeys, 2, Keys::First),
    Command::reads("HLEN", hashes::hlen, 2, Keys::First),
    Command::grows("HSET", hashes::hset, -4, Keys::First),
    // Lists.
    Command::reads("LINDEX", lists::lindex, 3, Keys::First),
    Command::grows("LPUSH", lists::lpush, -3, Keys::First),
    Command::reads("LRANGE", lists::lrange, 4, Keys::First),
    Command::grows("RPUSH", lists::rpush, -3, Keys::First),
    // Streams.
    Command::grows("XADD", streams::xadd, -5, Keys::First),
    Command::reads("XLEN", streams::xlen, 2, Keys::First),
    Command::reads("XRANGE", streams::xrange, -4, Keys::First),
    // Messages.
    Command::reads("PUBLISH", messages::publish, 3, Keys::None),
    Command::reads("PUBSUB", messages::pubsub, -2, Keys::None),
    // Scripts.
    Command::client("EVAL", scripts::eval, -3, Keys::Counted),
    Command::client("EVALSHA", scripts::evalsha, -3, Keys::Counted),
    Command::client("SCRIPT", scripts::script, -2, Keys::None),
    // The server.
    Command::client("ACL", settings::acl, -2, Keys::None),
    Command::reads("COMMAND", settings::command, -1, Keys::None),
    Command::client("CONFIG", settings::config, -2, Keys::None),
    Command::reads("PING", settings::ping, -1, Keys::None),
];

/// Returns the command with this name, if a server with this command to compare and delete has it.
pub(crate) fn named(name: &[u8], deletion: Deletion) -> Option<&'static Command> {
    let is_absent = |command: &Command| match command.name {
        "DELIFEQ" => deletion != Deletion::DelIfEq,
        "DELEX" => deletion != Deletion::DelEx,
        _ => false,
    };
    COMMANDS
        .iter()
        .find(|command| command.name.as_bytes().eq_ignore_ascii_case(name))
        .filter(|command| !is_absent(command))
}

/// The error for too few or too many words.
pub(crate) fn wrong_count(name: &str) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}

/// An option in upper case.
fn option(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

fn unknown_subcommand<T>(name: &str, subcommand: &[u8]) -> Result<T, Reply> {
    let subcommand = String::from_utf8_lossy(subcommand);
    fail(format!(
        "ERR unknown subcommand '{subcommand}'. Try {name} HELP."
    ))
}
