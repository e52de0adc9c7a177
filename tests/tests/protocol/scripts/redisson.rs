//! The scripts for Redisson's record.

use harness::{Listener, RedisServer, ask, code_of};
use redis::{Connection, RedisResult, Script, Value};

macro_rules! lua {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../lock-runtime/src/backend/redis/lua/redisson_",
            $name,
            ".lua"
        ))
    };
}

const K: &str = "order:42";
const QUEUE: &str = "redisson_lock_queue:{order:42}";
const CHANNEL: &str = "redisson_lock__channel:{order:42}";

/// Owners as the client names them, and one of Redisson's.
const OURS: &str = "00000000-0000-0000-0000-000000000001:4611686018427387904";
const OTHER: &str = "00000000-0000-0000-0000-000000000002:4611686018427387905";
const JAVA: &str = "00000000-0000-0000-0000-000000000003:47";

const TTL: i64 = 60_000;

fn acquire(connection: &mut Connection, owner: &str, ttl: i64) -> RedisResult<Value> {
    let script = Script::new(lua!("acquire"));
    script.key(K).arg(owner).arg(ttl).invoke(connection)
}

fn renew(connection: &mut Connection, owner: &str, ttl: i64) -> RedisResult<Option<String>> {
    let script = Script::new(lua!("renew"));
    script.key(K).arg(owner).arg(ttl).invoke(connection)
}

fn release(connection: &mut Connection, owner: &str) -> RedisResult<i64> {
    let script = Script::new(lua!("release"));
    script.key(K).key(QUEUE).arg(owner).invoke(connection)
}

fn revoke(connection: &mut Connection, pairs: &[&str]) -> RedisResult<i64> {
    let script = Script::new(lua!("revoke"));
    script.key(K).key(QUEUE).arg(pairs).invoke(connection)
}

/// The token of an answer that says that the owner holds the lock.
#[track_caller]
fn token(answer: Value) -> i64 {
    let text: String = redis::from_redis_value(answer).expect("flag and token");
    let digits = text.strip_prefix(' ').expect("a flag");
    assert_eq!(digits.len(), 16, "{text:?}");
    digits.parse().expect("digits")
}

/// The remaining ms, the type, and the value or field of an answer that says that another owner holds the lock.
#[track_caller]
fn held(answer: Value) -> (i64, String, String) {
    redis::from_redis_value(answer).expect("three parts")
}

fn now(connection: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = ask(connection, &["TIME"]);
    seconds * 1_000_000 + micros
}

fn fields(connection: &mut Connection) -> Vec<(String, String)> {
    ask(connection, &["HGETALL", K])
}

fn pttl(connection: &mut Connection) -> i64 {
    ask(connection, &["PTTL", K])
}

#[track_caller]
fn runs_down(left: i64, at_most: i64) {
    assert!(
        (at_most / 2..=at_most).contains(&left),
        "{left} of {at_most} ms"
    );
}

#[test]
fn free_lock_becomes_a_hash_of_its_owner_with_the_server_s_time_as_token() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let before = now(&mut connection);
    let token = token(acquire(&mut connection, OURS, TTL).unwrap());
    assert!((before..=now(&mut connection)).contains(&token));
    assert_eq!(fields(&mut connection), [(OURS.to_owned(), "1".to_owned())]);
    runs_down(pttl(&mut connection), TTL);
}

#[test]
fn acquire_that_is_sent_twice_counts_once_and_never_shortens_the_lease() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let first = token(acquire(&mut connection, OURS, TTL / 4).unwrap());
    let second = token(acquire(&mut connection, OURS, TTL).unwrap());
    assert!(second > first);
    runs_down(pttl(&mut connection), TTL);
    token(acquire(&mut connection, OURS, TTL / 4).unwrap());
    runs_down(pttl(&mut connection), TTL);
    assert_eq!(fields(&mut connection), [(OURS.to_owned(), "1".to_owned())]);
    assert_eq!(release(&mut connection, OURS).unwrap(), 1);
    assert_eq!(pttl(&mut connection), -2);
}

#[test]
fn lock_without_an_expiry_gets_one_from_its_owner() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    ask::<i64>(&mut connection, &["HSET", K, OURS, "1"]);
    token(acquire(&mut connection, OURS, TTL).unwrap());
    runs_down(pttl(&mut connection), TTL);
    ask::<i64>(&mut connection, &["PERSIST", K]);
    renew(&mut connection, OURS, TTL)
        .unwrap()
        .expect("it is held");
    runs_down(pttl(&mut connection), TTL);
}

#[test]
fn held_lock_is_answered_with_its_holder_and_stays_as_it_is() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    for owner in [JAVA, OTHER] {
        ask::<i64>(&mut connection, &["DEL", K]);
        ask::<i64>(&mut connection, &["HSET", K, owner, "2"]);
        ask::<i64>(&mut connection, &["PEXPIRE", K, "30000"]);
        let (remaining, kind, holder) = held(acquire(&mut connection, OURS, TTL).unwrap());
        runs_down(remaining, 30_000);
        assert_eq!((&kind[..], &holder[..]), ("hash", owner));
        assert_eq!(
            fields(&mut connection),
            [(owner.to_owned(), "2".to_owned())]
        );
        runs_down(pttl(&mut connection), 30_000);
    }
}

#[test]
fn lock_of_many_holders_is_answered_without_its_mode_and_unread_if_it_is_large() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    ask::<i64>(&mut connection, &["HSET", K, JAVA, "1", "mode", "read"]);
    let (remaining, _, holder) = held(acquire(&mut connection, OURS, TTL).unwrap());
    assert_eq!((remaining, &holder[..]), (-1, JAVA));
    for number in 0..8 {
        ask::<i64>(&mut connection, &["HSET", K, &number.to_string(), "1"]);
    }
    let (_, kind, holder) = held(acquire(&mut connection, OURS, TTL).unwrap());
    assert_eq!((&kind[..], &holder[..]), ("hash", ""));
}

#[test]
fn string_of_another_program_is_a_held_lock() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    ask::<()>(&mut connection, &["SET", K, "foreign", "PX", "30000"]);
    let (remaining, kind, value) = held(acquire(&mut connection, OURS, TTL).unwrap());
    runs_down(remaining, 30_000);
    assert_eq!((&kind[..], &value[..]), ("string", "foreign"));
    assert_eq!(renew(&mut connection, OURS, TTL).unwrap(), None);
    assert_eq!(release(&mut connection, OURS).unwrap(), -1);
    assert_eq!(ask::<String>(&mut connection, &["GET", K]), "foreign");
}

#[test]
fn key_of_another_type_is_refused() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    ask::<i64>(&mut connection, &["LPUSH", K, "x"]);
    let error = acquire(&mut connection, OURS, TTL).unwrap_err();
    assert_eq!(code_of(&error), "WRONGTYPE", "{error}");
    assert_eq!(renew(&mut connection, OURS, TTL).unwrap(), None);
    assert_eq!(release(&mut connection, OURS).unwrap(), -1);
    assert_eq!(ask::<i64>(&mut connection, &["LLEN", K]), 1);
}

#[test]
fn renewal_extends_the_lease_of_its_owner_and_of_no_other() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    assert_eq!(renew(&mut connection, OURS, TTL).unwrap(), None);
    assert_eq!(pttl(&mut connection), -2, "a renewal makes no lock");
    let first = token(acquire(&mut connection, OURS, TTL / 4).unwrap());
    let renewed = renew(&mut connection, OURS, TTL).unwrap();
    let renewed = renewed.expect("it is held");
    assert!(token(Value::BulkString(renewed.into())) > first);
    runs_down(pttl(&mut connection), TTL);
    assert!(renew(&mut connection, OURS, TTL / 4).unwrap().is_some());
    runs_down(pttl(&mut connection), TTL);
    assert_eq!(renew(&mut connection, OTHER, 2 * TTL).unwrap(), None);
    runs_down(pttl(&mut connection), TTL);
}

#[test]
fn release_frees_the_lock_of_its_owner_and_of_no_other() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    assert_eq!(release(&mut connection, OURS).unwrap(), 0);
    token(acquire(&mut connection, OURS, TTL).unwrap());
    assert_eq!(release(&mut connection, OTHER).unwrap(), -1);
    assert_eq!(fields(&mut connection), [(OURS.to_owned(), "1".to_owned())]);
    assert_eq!(release(&mut connection, OURS).unwrap(), 1);
    assert_eq!(pttl(&mut connection), -2);
    assert_eq!(release(&mut connection, OURS).unwrap(), 0);
}

#[test]
fn release_is_announced_to_waiters_and_to_the_first_of_a_fair_lock() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let mut messages = Listener::to_pattern(&server, "redisson_lock__channel:*");
    let mut cycle = || {
        token(acquire(&mut connection, OURS, TTL).unwrap());
        assert_eq!(release(&mut connection, OTHER).unwrap(), -1);
        assert_eq!(release(&mut connection, OURS).unwrap(), 1);
        assert_eq!(release(&mut connection, OURS).unwrap(), 0);
    };
    let unlocked = |channel: &str| (channel.to_owned(), "0".to_owned());
    cycle();
    assert_eq!(messages.next_of_pattern(), unlocked(CHANNEL));
    ask::<i64>(&mut server.connection(), &["RPUSH", QUEUE, JAVA, "another"]);
    cycle();
    assert_eq!(messages.next_of_pattern(), unlocked(CHANNEL));
    assert_eq!(
        messages.next_of_pattern(),
        unlocked(&format!("{CHANNEL}:{JAVA}"))
    );
    // A queue that is none takes nothing from the release.
    ask::<i64>(&mut server.connection(), &["DEL", QUEUE]);
    ask::<()>(&mut server.connection(), &["SET", QUEUE, "x"]);
    cycle();
    assert_eq!(messages.next_of_pattern(), unlocked(CHANNEL));
    cycle();
    assert_eq!(
        messages.next_of_pattern(),
        unlocked(CHANNEL),
        "and no other message"
    );
}

#[test]
fn server_out_of_memory_refuses_newcomers_and_lets_holders_go_on() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    token(acquire(&mut connection, OURS, TTL / 4).unwrap());
    server.config_set("maxmemory", "1");
    token(acquire(&mut connection, OURS, TTL).unwrap());
    assert!(renew(&mut connection, OURS, 2 * TTL).unwrap().is_some());
    runs_down(pttl(&mut connection), 2 * TTL);
    assert_eq!(release(&mut connection, OURS).unwrap(), 1);
    let error = acquire(&mut connection, OURS, TTL).unwrap_err();
    assert_eq!(code_of(&error), "OOM", "{error}");
    assert_eq!(pttl(&mut connection), -2);
}

#[test]
fn revoked_lock_is_free_and_its_waiters_are_woken() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    ask::<i64>(&mut connection, &["RPUSH", QUEUE, JAVA]);
    let mut listener = Listener::to_pattern(&server, "redisson_lock__channel:*");
    for pairs in [&[OURS, "1"][..], &[JAVA, "3", "mode", "read"]] {
        let _: i64 = ask(&mut connection, &[&["HSET", K], pairs].concat());
        assert_eq!(revoke(&mut connection, pairs).unwrap(), 1);
        assert_eq!(pttl(&mut connection), -2);
        let expected = [CHANNEL.to_owned(), format!("{CHANNEL}:{JAVA}")];
        for channel in expected {
            assert_eq!(listener.next_of_pattern(), (channel, "0".to_owned()));
        }
    }
}

#[test]
fn record_that_is_another_one_is_not_revoked() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    assert_eq!(revoke(&mut connection, &[OURS, "1"]).unwrap(), 0);
    let _: i64 = ask(&mut connection, &["HSET", K, JAVA, "2"]);
    for pairs in [
        &[OURS, "1"][..],
        &[JAVA, "1"],
        &[JAVA, "2", OURS, "1"],
        &[JAVA, "2", JAVA, "2"],
        &[],
    ] {
        assert_eq!(revoke(&mut connection, pairs).unwrap(), -1, "{pairs:?}");
    }
    assert_eq!(fields(&mut connection), [(JAVA.to_owned(), "2".to_owned())]);
    let _: () = ask(&mut connection, &["SET", K, "foreign"]);
    assert_eq!(revoke(&mut connection, &[JAVA, "2"]).unwrap(), -1);
}
