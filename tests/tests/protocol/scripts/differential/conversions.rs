//! Small scripts that try how values, errors and names go from a script to its caller and back.

use super::{Deed, Draws, commands, words};

const SCRIPTS: &[&str] = &[
    "return { 1.9, -1.9, 'x', true, false, 3, nil, 4 }",
    "return 2^53 + 1",
    "return -0.5",
    "return 1e300 * 0",
    "return redis.pcall('GET', KEYS[1])",
    "return redis.call('LPUSH', KEYS[1], 1, 2.5, 1e15, -3)",
    "return redis.call('LPUSH', KEYS[1], 2^53 - 33, 1700000000123456)",
    "return { err = 'MINE text' }",
    "return { ok = 'FINE' }",
    "return redis.error_reply('OWN it')",
    "return redis.status_reply('S')",
    "return redis.call('SET', KEYS[1], 1.5, 'PX', 1000)",
    "redis.call('ZADD', KEYS[1], 1.25, 'm') return redis.call('ZSCORE', KEYS[1], 'm')",
    "return undefined_name",
    "undefined_name = 1",
    "return redis.call('GET')",
    "return redis.call('NOSUCH', 'x')",
    "return redis.call()",
    "return redis.pcall('NOSUCH').err ~= nil",
    "return { redis.call('GET', KEYS[1]) == false, redis.call('TYPE', KEYS[1]) }",
    "return { {}, { {} }, { 'a', { 'b' } } }",
    "return redis.call('GET', { 1 })",
    "return redis.call('SET', KEYS[1], true)",
    "local x = nil return x .. 'a'",
    "error('mine')",
    "error({ err = 'TABLE here' })",
    "return #ARGV .. #KEYS",
    "return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
    "redis.call('SET', KEYS[1], 'first') return redis.call('LPUSH', KEYS[1], 'x')",
    "return string.format('%016.0f', 1.7e15)",
    "return tostring(1.7e15)",
    "return 1.7e15 .. ''",
    "return unpack({ 1, 2 })",
    "return redis.call('time')",
    "return type(redis.call('PTTL', KEYS[1]))",
    "return redis.call('get', KEYS[1])",
    "return",
    "return nil",
    "return function() end",
    "return { 1, function() end, 3 }",
    "this is no script",
];

pub(super) fn draw(draws: &mut Draws, deletion: Option<&'static str>) -> Deed {
    if draws.below(4) == 0 {
        return commands::draw(draws, deletion);
    }
    let key = draws.of(&["a", "b"]);
    let call = ["EVAL", draws.of(SCRIPTS), "1", key, "x"];
    Deed::Sends(vec![words(&call)], "")
}
