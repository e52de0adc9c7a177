//! Plain commands, with good and bad arguments.

use std::time::Duration;

use super::{Deed, Draws, words};

/// The commands that a long run sees answered.
pub(super) const ALL: &[&str] = &[
    "SET",
    "GET",
    "GETRANGE",
    "STRLEN",
    "SETRANGE",
    "DEL",
    "DELIFEQ",
    "DELEX",
    "EXISTS",
    "PEXPIRE",
    "PEXPIREAT",
    "PTTL",
    "PERSIST",
    "TYPE",
    "ZADD",
    "ZREM",
    "ZCARD",
    "ZSCORE",
    "ZMSCORE",
    "ZRANK",
    "ZCOUNT",
    "ZRANGE",
    "ZREVRANGE",
    "ZRANGEBYSCORE",
    "ZREMRANGEBYSCORE",
    "HSET",
    "HGET",
    "HDEL",
    "HEXISTS",
    "HLEN",
    "HKEYS",
    "LPUSH",
    "RPUSH",
    "LINDEX",
    "LRANGE",
    "XADD",
    "XLEN",
    "XRANGE",
    "PUBLISH",
    "PUBSUB",
];

pub(super) const KEYS: &[&str] = &["a", "b", "c", "{t}d"];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "5",
    "100",
    "2500",
    "-3",
    "99999",
    "x",
    "1.5",
    "",
    "007",
    "9223372036854775807",
];
const SCORES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "5",
    "1.5",
    "1700000000000123",
    "-1700000000000123",
    "+inf",
    "-inf",
    "nan",
    "x",
    "1e15",
    "0.5",
];
const BOUNDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "(1",
    "(0",
    "+inf",
    "-inf",
    "(+inf",
    "2",
    "(x",
    "1700000000000123",
];
const TIMES: &[&str] = &["1", "1700000000000", "4000000000000", "-1", "x"];
const MEMBERS: &[&str] = &["m", "n", "oo", "", "=", "A"];
const TEXTS: &[&str] = &["", "v", "10", "hello world", "\0\r\n", "A 1234"];

/// Time passes, up to the very end of what the numbers and the scripts' times set, and past it.
pub(super) fn passes(draws: &mut Draws) -> Deed {
    let ms = draws.of(&[
        1, 5, 100, 500, 1_500, 1_505, 2_500, 3_000, 3_505, 6_000, 6_505, 10_000, 10_005, 25_005,
        90_000_005,
    ]);
    if draws.below(8) == 0 {
        return Deed::GoesBack(Duration::from_millis(2_005));
    }
    Deed::Passes(Duration::from_millis(ms))
}

pub(super) fn draw(draws: &mut Draws, deletion: Option<&'static str>) -> Deed {
    if draws.below(8) == 0 {
        return passes(draws);
    }
    let (key, other) = (draws.of(KEYS), draws.of(KEYS));
    let name = match draws.of(ALL) {
        "DELIFEQ" | "DELEX" => deletion.unwrap_or("GET"),
        name => name,
    };
    let arguments = arguments(name, other, draws);
    let mut command = [&[name, key], &arguments[..]].concat();
    if name == "PUBLISH" {
        command[1] = draws.of(&["lock:AAAAAAAA", "lock:DDDDDDDD"]);
    } else if name == "PUBSUB" {
        command[1] = "NUMSUB";
    }
    if draws.below(40) == 0 {
        command.pop();
    }
    Deed::Sends(vec![words(&command)], name)
}

/// What follows the command's first key.
fn arguments(name: &str, other: &'static str, draws: &mut Draws) -> Vec<&'static str> {
    let (number, text) = (draws.of(NUMBERS), draws.of(TEXTS));
    let (member, bound) = (draws.of(MEMBERS), draws.of(BOUNDS));
    match name {
        "SET" => {
            let time = draws.of(TIMES);
            let options = [
                &[][..],
                &["NX"],
                &["XX"],
                &["PX", number],
                &["PXAT", time],
                &["KEEPTTL"],
                &["NX", "PX", number],
                &["GET"],
                &["EX", number],
                &["XX", "KEEPTTL"],
                &["XX", "NX"],
                &["BAD"],
                &["PX"],
            ];
            [&[text][..], draws.of(&options)].concat()
        }
        "DEL" => vec![other],
        "EXISTS" => vec![other, "a"],
        "GETRANGE" | "LRANGE" => vec![number, draws.of(&["-1", "0", "1", "3"])],
        "SETRANGE" => vec![number.get(..2).unwrap_or(number), text],
        "DELIFEQ" => vec![text],
        "DELEX" => vec!["IFEQ", text],
        "PEXPIRE" => vec![number],
        "PEXPIREAT" => vec![draws.of(TIMES)],
        "ZADD" => {
            let score = draws.of(SCORES);
            let pairs = [
                &[score, member][..],
                &["1", "m", score, "p"],
                &["XX", score, member],
                &["NX", score, member],
            ];
            draws.of(&pairs).to_vec()
        }
        "ZREM" | "HDEL" | "ZMSCORE" => vec![member, draws.of(&["m", "p"])],
        "ZSCORE" | "ZRANK" | "HGET" | "HEXISTS" => vec![member],
        "ZCOUNT" | "ZREMRANGEBYSCORE" => vec![bound, draws.of(&["+inf", "2", "(2", "0"])],
        "ZRANGE" | "ZREVRANGE" => {
            let last = draws.of(&["-1", "0", "3"]);
            [&[number, last][..], draws.of(&[&[][..], &["WITHSCORES"]])].concat()
        }
        "ZRANGEBYSCORE" => {
            let options = [
                &[][..],
                &["WITHSCORES"],
                &["LIMIT", "0", "1"],
                &["LIMIT", "1", "-1"],
                &["WITHSCORES", "LIMIT", "1", "2"],
                &["LIMIT", "-1", "2"],
                &["LIMIT", "1"],
            ];
            [&[bound, "+inf"][..], draws.of(&options)].concat()
        }
        "HSET" => vec![member, text],
        "LPUSH" | "RPUSH" => vec![text, member],
        "LINDEX" => vec![number],
        "XADD" => {
            let trims = [
                &[][..],
                &["MAXLEN", "2"],
                &["MAXLEN", "=", "1"],
                &["MAXLEN", number],
            ];
            [draws.of(&trims), &["*", "owner", text]].concat()
        }
        "XRANGE" => [&["-", "+"][..], draws.of(&[&[][..], &["COUNT", "1"]])].concat(),
        "PUBLISH" => vec![text],
        "PUBSUB" => vec!["lock:AAAAAAAA", "lock:DDDDDDDD"],
        _ => Vec::new(),
    }
}
