//! Scripts and the state that they leave.

use crate::{Bytes, Reply, State, call, coverage};

fn words(words: &[&str]) -> Vec<Bytes> {
    words.iter().map(|word| Bytes::from(*word)).collect()
}

fn ask(state: &mut State, command: &[&str]) -> Reply {
    call(state, &words(command))
}

fn eval(state: &mut State, source: &str, keys: &[&str]) -> Reply {
    let count = keys.len().to_string();
    ask(state, &[&["EVAL", source, &count], keys].concat())
}

fn text(text: &str) -> Reply {
    Reply::Bulk(text.into())
}

#[test]
fn a_copy_of_the_state_is_a_server_of_its_own() {
    let mut one = State::default();
    ask(&mut one, &["SET", "k", "v"]);
    let mut other = one.clone();
    assert_eq!(
        eval(&mut other, "return redis.call('DEL', KEYS[1])", &["k"]),
        Reply::Integer(1)
    );
    assert_eq!(ask(&mut one, &["GET", "k"]), text("v"));
    assert_ne!(one, other);
}

#[test]
fn a_script_that_fails_keeps_what_it_has_written() {
    let mut state = State::default();
    let script = "redis.call('SET', KEYS[1], 'v') return redis.call('LPUSH', KEYS[1], 'x')";
    assert_eq!(eval(&mut state, script, &["k"]).code(), Some("WRONGTYPE"));
    assert_eq!(ask(&mut state, &["GET", "k"]), text("v"));
}

#[test]
fn a_script_leaves_nothing_to_the_next_one() {
    let mut state = State::default();
    for change in [
        "mine = 1",
        "KEYS = {}",
        "string.sub = 1",
        "redis.call = 1",
        "_G = 1",
    ] {
        assert_eq!(
            eval(&mut state, change, &[]).code(),
            Some("ERR"),
            "{change}"
        );
    }
    for absent in [
        "return os",
        "return cjson",
        "return math.random()",
        "return ARGV.x.y",
    ] {
        assert_eq!(
            eval(&mut state, absent, &[]).code(),
            Some("ERR"),
            "{absent}"
        );
    }
}

#[test]
fn a_script_that_has_written_may_fill_the_memory() {
    let mut state = State::default();
    ask(&mut state, &["SET", "k", "v"]);
    state.is_full = true;
    let grow = "return redis.call('SET', KEYS[1], 'w')";
    assert_eq!(eval(&mut state, grow, &["k"]).code(), Some("OOM"));
    assert_eq!(ask(&mut state, &["SET", "k", "w"]).code(), Some("OOM"));
    let shrink_first = &format!("redis.call('DEL', KEYS[1]) {grow}");
    assert_eq!(
        eval(&mut state, shrink_first, &["k"]),
        Reply::Status("OK".into())
    );
}

#[test]
fn a_moving_slot_has_only_the_keys_that_are_still_here() {
    let mut state = State::default();
    ask(&mut state, &["SET", "here", "v"]);
    state.is_moving = true;
    let script = "return redis.call('GET', ARGV[1] or KEYS[1])";
    assert_eq!(eval(&mut state, script, &["here"]), text("v"));
    assert_eq!(eval(&mut state, script, &["gone"]).code(), Some("ASK"));
    assert_eq!(
        eval(&mut state, script, &["here", "gone"]).code(),
        Some("TRYAGAIN")
    );
    assert_eq!(ask(&mut state, &["GET", "gone"]).code(), Some("ASK"));
    // The key was there when the script began.
    let undeclared = ask(&mut state, &["EVAL", script, "1", "here", "gone"]);
    assert_eq!(undeclared.code(), Some("ERR"));
}

#[test]
fn the_ids_of_a_stream_rise_while_the_clock_goes_back() {
    let mut state = State {
        now: 5_000_000,
        ..State::default()
    };
    let mut add = |by: i64| {
        state.now += by;
        ask(&mut state, &["XADD", "s", "MAXLEN", "1", "*", "f", "v"])
    };
    assert_eq!(add(0), text("5000-0"));
    assert_eq!(add(-2_000_000), text("5000-1"));
    assert_eq!(add(2_001_000), text("5001-0"));
}

#[test]
fn lines_that_have_not_run_are_found() {
    coverage::start();
    let source = "
local function half(number)
  if number == 0 then
    return 'zero'
  end
  return number / 2 -- what remains
end
if redis.call('EXISTS', KEYS[1]) == 1
  or ARGV[1]
then
  return half(4)
else
  return half(0)
end";
    let mut state = State::default();
    eval(&mut state, source, &["k"]);
    let missing = [
        (6, "  return number / 2 -- what remains"),
        (11, "  return half(4)"),
    ];
    assert_eq!(coverage::lines_not_run(source), missing);
    ask(&mut state, &["SET", "k", "v"]);
    eval(&mut state, source, &["k"]);
    assert_eq!(coverage::lines_not_run(source), []);
}
