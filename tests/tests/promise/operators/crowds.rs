//! Locks with more waiters or holders than an operator is shown.

use harness::{
    FENCE, KEY, LOCK, QUEUE, RedisServer, SHARES, all_locks, ask, sees_waiters,
    server_and_connection, token_of,
};
use lock_runtime::inspect::{HolderKind, LockState};
use redis::Connection;

use super::{client, revoke};

/// The number that is shown.
const SHOWN: usize = 128;

/// Writes this many entries into the queue, as if other clients waited, in the order of their numbers.
fn write_waiters(connection: &mut Connection, count: usize) {
    let script = "local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        for i = 1, ARGV[1] do
            local owner = string.format('%022d', i)
            redis.call('ZADD', KEYS[1], now - 1000000 + i, owner .. ' host-' .. i, -(now + 6000000), owner)
        end";
    let count = count.to_string();
    let _: () = ask(connection, &["EVAL", script, "1", QUEUE, &count]);
}

/// Writes a lock that readers share. `lapsed` of them have expired, as if their processes were killed; `live` have not.
fn write_readers(connection: &mut Connection, lapsed: usize, live: usize) {
    let script = "local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local token = string.format('%016.0f', now)
        redis.call('SET', KEYS[1], 'shared' .. token .. ' ' .. token .. ' shared: host', 'PX', 60000)
        redis.call('SET', KEYS[2], token)
        for i = 1, ARGV[1] + ARGV[2] do
            local ends = now + (i > tonumber(ARGV[1]) and 50000000 or -1000) + i
            redis.call('ZADD', KEYS[3], ends, string.format('%022d', i))
        end
        redis.call('ZADD', KEYS[3], -(ARGV[1] + ARGV[2]), '=')";
    let numbers = [lapsed.to_string(), live.to_string()];
    let keys = ["EVAL", script, "3", LOCK, FENCE, SHARES];
    let call: Vec<&str> = keys
        .into_iter()
        .chain(numbers.iter().map(|it| &**it))
        .collect();
    let _: () = ask(connection, &call);
}

#[track_caller]
fn has_first_waiters(state: &LockState, count: usize) {
    let labels = state.waiters.iter().map(|waiter| waiter.label.as_str());
    let labels: Vec<&str> = labels.collect();
    let first = 1..=count.min(SHOWN);
    let expected: Vec<String> = first.map(|number| format!("host-{number}")).collect();
    assert_eq!(labels, expected);
    assert_eq!(state.more_waiters, count.saturating_sub(SHOWN));
    assert_eq!(state.waiter_count(), count);
}

#[tokio::test]
async fn first_waiters_of_many_are_shown_in_their_order() {
    let (server, mut connection) = server_and_connection();
    let (holder, operator) = (client(&server), client(&server));
    let guard = harness::hold(&holder).await;
    for count in [SHOWN - 1, SHOWN, SHOWN + 1, 1_000] {
        let _: i64 = ask(&mut connection, &["DEL", QUEUE]);
        write_waiters(&mut connection, count);
        has_first_waiters(&operator.inspect(KEY).await.unwrap(), count);
    }
    // The client that comes last is behind all of them, and is not shown.
    let waiting = tokio::spawn(client(&server).lock(KEY).wait(harness::LONG).acquire());
    sees_waiters(&operator, KEY, 1_001).await;
    let state = operator.inspect(KEY).await.unwrap();
    assert_eq!(state.waiters[0].label, "host-1");
    assert_eq!(
        (state.waiters.len(), state.more_waiters),
        (SHOWN, 1_001 - SHOWN)
    );
    let listed = all_locks(operator.locks()).await.unwrap();
    assert_eq!(listed[0].waiter_count, 1_001, "{:?}", listed[0]);
    let before = state.longest_wait().expect("the first waiter is shown");
    assert!(
        listed[0].longest_wait >= Some(before),
        "{before:?}, {listed:?}"
    );
    waiting.abort();
    drop(guard);
}

#[tokio::test]
async fn first_readers_of_many_are_shown_and_all_are_revoked() {
    for count in [SHOWN - 1, SHOWN, SHOWN + 1, 1_000] {
        let (server, mut connection) = server_and_connection();
        let operator = client(&server);
        write_readers(&mut connection, 0, count);
        let state = operator.inspect(KEY).await.unwrap();
        assert_eq!(state.holders.len(), count.min(SHOWN));
        assert_eq!(state.more_holders, count.saturating_sub(SHOWN));
        let mut holders = state.holders.iter();
        assert!(holders.all(|holder| holder.kind == HolderKind::Share && holder.permits == 1));
        let token = state.holders[0].token;
        assert!(token.is_some() && token == state.last_token, "{state:?}");
        let listed = all_locks(operator.locks()).await.unwrap();
        assert_eq!(listed[0].holder_count, count);
        revoke(&operator).await;
        assert!(!operator.inspect(KEY).await.unwrap().is_held());
        let guard = harness::hold(&operator).await;
        assert!(Some(token_of(&guard).await) > token);
        guard.release().await.unwrap();
    }
}

/// Shares that have expired stay until the next share comes or goes.
#[tokio::test]
async fn readers_behind_lapsed_readers_are_shown() {
    for lapsed in [1, SHOWN - 2, SHOWN - 1, SHOWN, 300] {
        let server = RedisServer::start();
        let operator = client(&server);
        write_readers(&mut server.connection(), lapsed, 2);
        let state = operator.inspect(KEY).await.unwrap();
        assert_eq!(state.holders.len(), 2, "behind {lapsed}: {state:?}");
        assert_eq!(state.more_holders, 0, "behind {lapsed}");
        revoke(&operator).await;
    }
}
