//! The minimal permissions: sufficient, not one too many, and printed. Any other suite runs with them,
//! too: `LOCK_TEST_USER=least`.

use std::collections::BTreeSet;

use harness::{
    CLUSTER_RIGHTS, KEY, LOCK, LONG, QUEUE, REDISSON_RIGHTS, REPLICA_RIGHTS, RIGHTS, RedisServer,
    ask, client, deletion, eventually, hold, ms, soon,
};
use lock_runtime::{LockClient, Record};
use redis::Connection;

use super::{PAGE, README};

/// The words of the page's ACL rule.
fn printed() -> Vec<&'static str> {
    rules().next().expect("the page has a rule")
}

/// Those of its rule for Redisson's record.
fn printed_for_redisson() -> Vec<&'static str> {
    let is_it = |rule: &Vec<&str>| rule.contains(&"~redisson_lock_queue:*");
    rules().find(is_it).expect("the page has a rule for it")
}

fn rules() -> impl Iterator<Item = Vec<&'static str>> {
    PAGE.split("ACL SETUSER").skip(1).map(|rule| {
        let (rule, _) = rule.split_once("```").expect("it stands in a block");
        rule.split_whitespace().collect()
    })
}

/// A server whose new users may use every channel, like those of Redis 6.2.
fn generous() -> RedisServer {
    let builder = RedisServer::builder();
    builder.config("acl-pubsub-default", "allchannels").start()
}

#[test]
fn the_page_prints_them() {
    let expected = [&["service", "reset", "on", ">password"], RIGHTS].concat();
    assert_eq!(printed(), expected);
}

/// What clusters and replicas need beyond them is named on the page and in the README.
#[test]
fn those_of_other_topologies_are_named() {
    let page = include_str!("../../../../lock-runtime/src/docs/security.md");
    for right in [CLUSTER_RIGHTS, REPLICA_RIGHTS].concat() {
        assert!(page.contains(right), "{right} is not on the page");
        assert!(README.contains(right), "{right} is not in the README");
    }
}

#[test]
fn page_prints_those_for_redissons_record() {
    let expected = [&["service", "reset", "on", ">password"], REDISSON_RIGHTS].concat();
    assert_eq!(printed_for_redisson(), expected);
}

#[test]
fn the_readme_prints_them() {
    let (_, rule) = README
        .split_once("The Redis user needs\n\n```text")
        .unwrap();
    let (rule, _) = rule.split_once("```").unwrap();
    let rule: Vec<_> = rule.split_whitespace().collect();
    for right in RIGHTS {
        assert!(rule.contains(right), "{right} is not in {rule:?}");
    }
    let rule = [&["ACL", "SETUSER", "service", "reset"][..], &rule].concat();
    let _: () = ask(&mut generous().connection(), &rule);
}

#[tokio::test]
async fn they_are_enough_and_each_of_them_is_used() {
    let server = generous();
    let mut admin = server.connection();
    let rule = [&["ACL", "SETUSER"][..], &printed()].concat();
    let _: () = ask(&mut admin, &rule);
    let _: () = ask(&mut admin, &["ACL", "LOG", "RESET"]);
    let _: () = ask(&mut admin, &["CONFIG", "RESETSTAT"]);

    everything_happens(&server, &mut admin).await;

    let stats: String = ask(&mut admin, &["INFO", "commandstats"]);
    for right in RIGHTS {
        if let Some(command) = right.strip_prefix('+') {
            let used = stats.contains(&format!("cmdstat_{command}:calls"));
            assert!(used, "{command} is never called:\n{stats}");
        }
    }
    // The client checks whether the server may evict locks, and tries whether it compares and deletes.
    // A refusal of either does no harm.
    let refused: Vec<Vec<redis::Value>> = ask(&mut admin, &["ACL", "LOG"]);
    let refused: BTreeSet<String> = refused.iter().map(|entry| object(entry)).collect();
    let deletion = deletion(&mut admin).map(|words| words[0].to_lowercase());
    let expected = deletion.into_iter().chain(["info".to_owned()]).collect();
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn those_for_redissons_record_are_enough_and_each_of_them_is_used() {
    let server = generous();
    let mut admin = server.connection();
    let rule = [&["ACL", "SETUSER"][..], &printed_for_redisson()].concat();
    let _: () = ask(&mut admin, &rule);
    let _: () = ask(&mut admin, &["ACL", "LOG", "RESET"]);
    let _: () = ask(&mut admin, &["CONFIG", "RESETSTAT"]);

    let url = server.url().replace("://", "://service:password@");
    let builder = LockClient::builder().url(url).record(Record::Redisson);
    let (one, other) = (builder.clone().connect().await, builder.build());
    let (one, other) = (one.unwrap(), other.unwrap());
    let guard = soon(hold(&one)).await;
    guard.renew().await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    eventually("subscription", LONG, async || {
        let channels: Vec<String> = ask(&mut admin, &["PUBSUB", "CHANNELS", "*"]);
        !channels.is_empty()
    })
    .await;
    guard.release().await.unwrap();
    let guard = soon(waiting).await.unwrap().unwrap();
    guard.release().await.unwrap();
    let _: () = ask(&mut admin, &["SET", LOCK, "foreign"]);
    let error = one.lock(KEY).wait(ms(0)).await.unwrap_err();
    assert!(error.is_busy(), "{error}");

    let stats: String = ask(&mut admin, &["INFO", "commandstats"]);
    let commands = REDISSON_RIGHTS
        .iter()
        .filter_map(|right| right.strip_prefix('+'));
    for command in commands {
        let used = stats.contains(&format!("cmdstat_{command}:calls"));
        assert!(used, "{command} is never called:\n{stats}");
    }
    let refused: Vec<Vec<redis::Value>> = ask(&mut admin, &["ACL", "LOG"]);
    let refused: BTreeSet<String> = refused.iter().map(|entry| object(entry)).collect();
    assert_eq!(refused, BTreeSet::from(["info".to_owned()]));
}

/// All situations in which a client sends a command or a script calls one. This function
/// itself queries the server by commands that clients do not use.
async fn everything_happens(server: &RedisServer, admin: &mut Connection) {
    let url = server.url().replace("://", "://service:password@");
    // A local turn costs no command.
    let one = LockClient::builder().url(&*url).local_turns(1);
    let (one, other) = (one.build().unwrap(), client(&*url));
    one.lock(KEY)
        .acquire()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();

    let guard = soon(hold(&one)).await;
    guard.renew().await.unwrap();
    let busy = other.lock(KEY).wait(ms(0)).acquire().await;
    assert!(busy.unwrap_err().is_busy());
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    eventually("waiter", LONG, async || {
        ask::<i64>(admin, &["EXISTS", QUEUE]) == 1
    })
    .await;
    // A second waiter in the queue asks for its position.
    let third = client(&*url);
    let behind = tokio::spawn(third.lock(KEY).wait(LONG).acquire());
    eventually("second waiter", LONG, async || {
        ask::<i64>(admin, &["ZCARD", QUEUE]) == 4
    })
    .await;
    let next = tokio::spawn(one.lock(KEY).wait(LONG).acquire());
    let left = tokio::time::timeout(ms(50), one.lock(KEY).wait(LONG).acquire()).await;
    assert!(left.is_err(), "it is held");
    guard.release().await.unwrap();
    for waiting in [waiting, behind, next] {
        let guard = soon(waiting).await.unwrap().unwrap();
        guard.release().await.unwrap();
    }
    drop(LockClient::connect(&url).await.unwrap());
    shares_happen(&one, &other, admin).await;
}

/// A reader waits behind a writer, which becomes a reader.
async fn shares_happen(one: &LockClient, other: &LockClient, admin: &mut Connection) {
    let writing = one.lock(KEY).write().acquire().await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).read().wait(LONG).acquire());
    eventually("waiting reader", LONG, async || {
        ask::<i64>(admin, &["EXISTS", QUEUE]) == 1
    })
    .await;
    let reading = writing.downgrade().await.unwrap();
    let joined = soon(waiting).await.unwrap().unwrap();
    for reader in [reading, joined] {
        reader.renew().await.unwrap();
        reader.release().await.unwrap();
    }
}

/// The object of an entry in the ACL log.
fn object(entry: &[redis::Value]) -> String {
    let mut pairs = entry.chunks(2);
    let pair = pairs
        .find(|pair| redis::from_redis_value_ref::<String>(&pair[0]).as_deref() == Ok("object"));
    redis::from_redis_value_ref(&pair.expect("an entry has an object")[1]).expect("it is a name")
}
