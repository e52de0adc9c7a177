//! The minimal permissions: sufficient, not one too many, and printed. Any other suite can run with them, too:
//! `LOCK_TEST_USER=least`.

use std::collections::BTreeSet;
use std::slice::from_ref;

use harness::{
    CLUSTER_RIGHTS, KEY, LOCK, LONG, OPERATOR_RIGHTS, QUEUE, REDISSON_OPERATOR_RIGHTS,
    REDISSON_RIGHTS, REDISSON_VIEWER_RIGHTS, REPLICA_RIGHTS, RIGHTS, RedisServer, Rights, Users,
    VIEWER_RIGHTS, ask, client, cycle, deletion, eventually, hold, is_awaited, ms, patient, served,
    soon,
};
use lock_runtime::{LockClient, LockErrorKind, LockRecord};
use redis::Connection;

use super::{PAGE, README};

/// The words of the page's ACL rule.
fn printed() -> Vec<&'static str> {
    rules().next().expect("the page has a rule")
}

/// The words of its rule for Redisson's record.
fn printed_for_redisson() -> Vec<&'static str> {
    let is_it = |rule: &Vec<&str>| rule.contains(&"~redisson_lock_queue:*");
    rules().find(is_it).expect("the page has a rule for it")
}

/// The words of its rule for a user of this name.
fn printed_for(user: &str) -> Vec<&'static str> {
    let mut rules = rules();
    rules
        .find(|rule| rule[0] == user)
        .expect("the page has a rule for that user")
}

fn rules() -> impl Iterator<Item = Vec<&'static str>> {
    PAGE.split("ACL SETUSER").skip(1).map(|rule| {
        let (rule, _) = rule.split_once("```").expect("it is in a code block");
        rule.split_whitespace().collect()
    })
}

/// A server whose new users may use every channel, like those of Redis 6.2.
fn generous() -> RedisServer {
    let builder = RedisServer::builder();
    builder.config("acl-pubsub-default", "allchannels").start()
}

#[test]
fn the_page_prints_all_rights() {
    let operator = [VIEWER_RIGHTS, OPERATOR_RIGHTS].concat();
    let is_it = |rule: &Vec<&str>| rule[0] == "viewer" && rule.contains(&"+hgetall");
    let of_redisson = rules().find(is_it).expect("the page has a rule for it");
    for (printed, user, rights) in [
        (printed(), "service", RIGHTS),
        (printed_for_redisson(), "service", REDISSON_RIGHTS),
        (printed_for("viewer"), "viewer", VIEWER_RIGHTS),
        (printed_for("operator"), "operator", &operator),
        (of_redisson, "viewer", REDISSON_VIEWER_RIGHTS),
    ] {
        let expected = [&[user, "reset", "on", ">password"], rights].concat();
        assert_eq!(printed, expected);
    }
    for right in REDISSON_OPERATOR_RIGHTS {
        assert!(PAGE.contains(right), "{right} is not on the page");
    }
}

/// The page names what clusters and replicas need in addition.
#[test]
fn rights_of_other_topologies_are_named() {
    let page = include_str!("../../../../lock-runtime/src/docs/security.md");
    for right in [CLUSTER_RIGHTS, REPLICA_RIGHTS].concat() {
        assert!(page.contains(right), "{right} is not on the page");
    }
}

/// Only the page has them; the README links to it through the guide.
#[test]
fn readme_is_short_and_leads_to_the_guide() {
    assert!(
        README.len() <= 8_000,
        "the README has {} bytes",
        README.len()
    );
    for page in ["docs::production", "docs::choosing", "docs::topologies"] {
        assert!(README.contains(page), "{page} is not in the README");
    }
}

#[tokio::test]
async fn service_rights_are_enough_and_all_used() {
    let server = generous();
    let mut admin = server.connection();
    permit(&mut admin, &printed());

    everything_happens(&server, &mut admin).await;

    assert_used(&mut admin, RIGHTS);
    // The client probes whether the server compares and deletes. A refusal does no harm.
    let deletion = deletion(&mut admin).map(|words| words[0].to_lowercase());
    assert_eq!(refused(&mut admin), deletion.into_iter().collect());
}

#[tokio::test]
async fn rights_for_redissons_record_are_enough_and_all_used() {
    let server = generous();
    let mut admin = server.connection();
    permit(&mut admin, &printed_for_redisson());

    let url = server.url().replace("://", "://service:password@");
    let builder = patient(url).record(LockRecord::Redisson);
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
    served(waiting).await.release().await.unwrap();
    one.lock(KEY).runs(3).run(async |_| ()).await.unwrap();
    let _: () = ask(&mut admin, &["SET", LOCK, "foreign"]);
    let error = one.lock(KEY).wait(ms(0)).await.unwrap_err();
    assert!(error.is_busy(), "{error}");

    assert_used(&mut admin, REDISSON_RIGHTS);
    assert_eq!(refused(&mut admin), BTreeSet::new());
}

/// The rights without which locks work, if not as well. The crate's scripts accept the refusal of the last two.
const HELPFUL: [&str; 4] = ["+ping", "+xadd", "+publish", "+pubsub|numsub"];

/// The rights that only shares need.
const OF_SHARES: [&str; 2] = ["+pexpireat", "+zremrangebyscore"];

#[tokio::test]
async fn service_that_lacks_a_right_takes_no_lock_and_leaves_nothing() {
    let server = RedisServer::start();
    lacks_each(&server, RIGHTS, async |url, lacking| {
        let client = client(url);
        let lock = || client.lock(KEY);
        for (lock, is_shared) in [
            (lock(), false),
            (lock().fenced(), false),
            (lock().wait(LONG), false),
            (client.lock_all([KEY, "another"]), false),
            (lock().read(), true),
            (lock().permits(2), true),
        ] {
            let lacks = !OF_SHARES.contains(&lacking) || is_shared;
            match lock.acquire().await {
                Ok(guard) => {
                    assert!(!lacks, "a lock without {lacking}");
                    guard.release().await.unwrap();
                    let _: () = ask(&mut server.connection(), &["FLUSHALL"]);
                }
                Err(error) => {
                    assert!(lacks, "{lacking}: {error}");
                    assert_eq!(error.kind(), LockErrorKind::Rejected, "{lacking}: {error}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn service_in_redissons_record_that_lacks_a_right_takes_no_lock_and_leaves_nothing() {
    let server = RedisServer::start();
    // The queue of a fair lock is read with care, and only a caller that waits listens.
    let helpful = ["+lindex", "+subscribe", "+unsubscribe", "+xadd"];
    let rights = REDISSON_RIGHTS.iter().copied();
    let needed: Vec<_> = rights.filter(|right| !helpful.contains(right)).collect();
    lacks_each(&server, &needed, async |url, lacking| {
        let builder = patient(url).record(LockRecord::Redisson);
        let error = builder.build().unwrap().lock(KEY).acquire().await;
        let error = error.expect_err(lacking);
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{lacking}: {error}");
    })
    .await;
}

/// Calls `check` as a user that lacks one of these rights, and asserts that it leaves nothing.
async fn lacks_each(
    server: &RedisServer,
    rights: &[&'static str],
    check: impl AsyncFn(String, &'static str),
) {
    let mut admin = server.connection();
    for &lacking in rights {
        if !lacking.starts_with('+') || HELPFUL.contains(&lacking) {
            continue;
        }
        let others = rights.iter().copied().filter(|&right| right != lacking);
        let words = ["ACL", "SETUSER", "service", "reset", "on", ">password"];
        let words: Vec<&str> = words.into_iter().chain(others).collect();
        let _: () = ask(&mut admin, &words);
        let url = server.url().replace("://", "://service:password@");
        check(url, lacking).await;
        let left: Vec<String> = ask(&mut admin, &["KEYS", "*"]);
        assert_eq!(left, [""; 0], "without {lacking}");
    }
}

/// Creates a user by a rule, and resets the server's counters and its log of refusals.
fn permit(admin: &mut Connection, rule: &[&str]) {
    let _: () = ask(admin, &[&["ACL", "SETUSER"], rule].concat());
    let _: () = ask(admin, &["ACL", "LOG", "RESET"]);
    let _: () = ask(admin, &["CONFIG", "RESETSTAT"]);
}

/// The commands that a server has refused, except for the query of the eviction policy, whose refusal does no harm.
fn refused(admin: &mut Connection) -> BTreeSet<String> {
    let log: Vec<Vec<redis::Value>> = ask(admin, &["ACL", "LOG"]);
    let commands = log.iter().map(|entry| object(entry));
    commands.filter(|command| command != "info").collect()
}

/// Asserts that the server has run each of these commands since its counters were reset.
#[track_caller]
fn assert_used(admin: &mut Connection, rights: &[&'static str]) {
    let stats: String = ask(admin, &["INFO", "commandstats"]);
    for right in rights.iter().filter(|right| right.starts_with('+')) {
        let used = stats.contains(&format!("cmdstat_{}:calls", &right[1..]));
        assert!(used, "{right} is never used:\n{stats}");
    }
}

/// The same for viewers, who can change nothing, and for operators.
#[tokio::test]
async fn those_of_each_role_are_enough_and_each_of_them_is_used() {
    let (native, redisson) = (generous(), generous());
    let users = Users::of(
        from_ref(&native),
        native.url(),
        LockRecord::Native,
        Rights::of_server(),
    );
    users.service_takes_locks().await;
    assert_eq!(users.viewer_looks_and_no_more().await, [""; 0]);
    assert_eq!(users.operator_revokes().await, [""; 0]);
    let rights = Rights::in_redissons_record();
    let users = Users::of(
        from_ref(&redisson),
        redisson.url(),
        LockRecord::Redisson,
        rights,
    );
    users.assert_rights_in_redissons_record().await;
}

/// Plays all situations in which a client sends a command or a script calls one. This function itself queries the
/// server by commands that clients do not use.
async fn everything_happens(server: &RedisServer, admin: &mut Connection) {
    let url = server.url().replace("://", "://service:password@");
    // A local turn costs no command.
    let one = patient(&*url).local_turns(1);
    let (one, other) = (one.build().unwrap(), client(&*url));
    cycle(&one).await;

    let guard = soon(hold(&one)).await;
    guard.renew().await.unwrap();
    let busy = other.lock(KEY).wait(ms(0)).acquire().await;
    assert!(busy.unwrap_err().is_busy());
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    is_awaited(admin).await;
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
        served(waiting).await.release().await.unwrap();
    }
    drop(patient(url).connect().await.unwrap());
    one.lock(KEY).runs(3).run(async |_| ()).await.unwrap();
    shares_happen(&one, &other, admin).await;
}

/// A reader waits behind a writer, which becomes a reader.
async fn shares_happen(one: &LockClient, other: &LockClient, admin: &mut Connection) {
    let writing = one.lock(KEY).write().acquire().await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).read().wait(LONG).acquire());
    is_awaited(admin).await;
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
