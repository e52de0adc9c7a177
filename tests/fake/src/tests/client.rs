//! A fake as a client sees it.

use std::time::Duration;

use redis::{ErrorKind, RedisResult, Script, ServerErrorKind, Value};

use crate::{Deletion, FakeServer};

const NOW: i64 = 1_700_000_000_123_456;

fn ask<T: redis::FromRedisValue>(server: &FakeServer, words: &[&str]) -> RedisResult<T> {
    redis::cmd(words[0])
        .arg(&words[1..])
        .query(&mut server.connection())
}

#[test]
fn a_script_is_loaded_and_runs_on_every_thread() {
    let server = FakeServer::new(NOW);
    let script =
        Script::new("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])");
    let run = |text: &str| -> String {
        let call = script.key("k").arg(text).invoke(&mut server.connection());
        call.expect("it runs")
    };
    assert_eq!(run("here"), "here");
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run("there")).join();
        assert_eq!(other.expect("it runs"), "there");
    });
}

#[test]
fn an_error_is_the_error_of_a_real_server() {
    let server = FakeServer::new(NOW);
    let _: i64 = ask(&server, &["LPUSH", "k", "x"]).expect("it is pushed");
    let error = ask::<String>(&server, &["GET", "k"]).unwrap_err();
    assert_eq!(error.code(), Some("WRONGTYPE"));
    let missing = "a".repeat(40);
    let error = ask::<String>(&server, &["EVALSHA", &missing, "0"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server(ServerErrorKind::NoScript));
}

#[test]
fn a_pipeline_goes_on_behind_an_error() {
    let mut pipeline = redis::pipe();
    pipeline.cmd("LPUSH").arg("k").arg("x");
    pipeline.cmd("GET").arg("k");
    pipeline.cmd("TYPE").arg("k");
    let server = FakeServer::new(NOW);
    let packed = pipeline.get_packed_pipeline();
    let answers =
        redis::ConnectionLike::req_packed_commands(&mut server.connection(), &packed, 0, 3);
    let answers = answers.expect("errors are answers");
    assert_eq!(answers[0], Value::Int(1));
    assert!(matches!(&answers[1], Value::ServerError(_)), "{answers:?}");
    assert_eq!(answers[2], Value::SimpleString("list".into()));
}

#[test]
fn only_the_clock_of_the_test_lets_a_key_expire() {
    let server = FakeServer::new(NOW);
    let _: () = ask(&server, &["SET", "k", "v", "PX", "10"]).expect("it is set");
    server.forward(Duration::from_millis(10));
    assert_eq!(ask(&server, &["PTTL", "k"]), Ok(0));
    server.forward(Duration::from_millis(1));
    assert_eq!(ask(&server, &["PTTL", "k"]), Ok(-2));
}

#[test]
fn subscribers_get_messages_until_they_leave() {
    let server = FakeServer::new(NOW);
    let mut inbox = server.listen("SUBSCRIBE", "lock:a");
    let mut monitor = server.listen("PSUBSCRIBE", "lock:*");
    assert_eq!(ask(&server, &["PUBLISH", "lock:a", "x"]), Ok(2));
    assert_eq!(ask(&server, &["PUBLISH", "lock:b", "y"]), Ok(1));
    let push = |words: &[&str]| {
        let words = words.iter().map(|word| Value::BulkString((*word).into()));
        Some(Value::Array(words.collect()))
    };
    assert_eq!(inbox.next(), push(&["message", "lock:a", "x"]));
    assert_eq!(inbox.next(), None);
    assert_eq!(monitor.next(), push(&["pmessage", "lock:*", "lock:a", "x"]));
    assert_eq!(monitor.next(), push(&["pmessage", "lock:*", "lock:b", "y"]));
    drop(inbox);
    assert_eq!(ask(&server, &["PUBLISH", "lock:a", "x"]), Ok(1));
}

#[test]
fn a_server_has_at_most_one_command_to_compare_and_delete() {
    let server = FakeServer::new(NOW);
    for (deletion, words) in [
        (Deletion::DelIfEq, &["DELIFEQ", "k", "v"][..]),
        (Deletion::DelEx, &["DELEX", "k", "IFEQ", "v"]),
    ] {
        server.state(|state| state.deletion = Deletion::Absent);
        let info: Vec<Value> = ask(&server, &["COMMAND", "INFO", words[0]]).expect("an answer");
        assert_eq!(info, [Value::Nil]);
        assert!(ask::<i64>(&server, words).is_err());
        server.state(|state| state.deletion = deletion);
        let info: Vec<Value> = ask(&server, &["COMMAND", "INFO", words[0]]).expect("an answer");
        assert_ne!(info, [Value::Nil]);
        assert_eq!(ask(&server, words), Ok(0));
        let _: () = ask(&server, &["SET", "k", "v"]).expect("it is set");
        assert_eq!(ask(&server, words), Ok(1));
    }
}
