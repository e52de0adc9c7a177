//! A connection takes a lock only once its user and its server have run the scripts that release it. How a service words
//! a refusal does not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::{LOCK, RedisServer, Says, ScriptedServer, bulk, is_awaited, server_and_connection};
use lock_runtime::LockRecord;

use super::*;

/// Refusals of services, and one that no service has used yet.
const REFUSALS: [&str; 6] = [
    "ERR command eval not support for normal user",
    "ERR unsupported command `eval`",
    "ERR Could not find scripting engine 'lua'",
    "ERR Unknown command 'eval'",
    "NOTHERE please ask your administrator",
    "LUA is switched off",
];

#[tokio::test]
async fn service_that_refuses_scripts_in_any_words_gets_no_plain_command() {
    for refusal in REFUSALS {
        let has_set = Arc::new(AtomicBool::new(false));
        let noted = has_set.clone();
        let server = ScriptedServer::start(Says::Standalone, move |_| {
            move |words: &[String]| match &*words[0] {
                "SET" => {
                    noted.store(true, Ordering::SeqCst);
                    "+OK\r\n".to_owned()
                }
                _ => format!("-{refusal}\r\n"),
            }
        });
        let client = client(format!("redis://127.0.0.1:{}", server.port()));
        for _ in 0..2 {
            let error = client.lock(KEY).acquire().await.unwrap_err();
            assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
            assert!(error.to_string().contains(refusal), "{error}");
        }
        assert!(!has_set.load(Ordering::SeqCst), "{refusal}");
    }
}

/// A script may run and still not write, for example behind a proxy that filters what it calls.
#[tokio::test]
async fn user_whose_scripts_run_and_do_not_write_takes_no_lock() {
    let (server, mut admin) = server_and_connection();
    for lacking in ["-evalsha", "-eval", "-del", "-pexpire"] {
        let url = server.user("app", "s3cret", &["~*", "&*", "+@all", lacking]);
        let url = url.as_str();
        let client = client(url);
        for lock in [
            client.lock(KEY),
            client.lock(KEY).fenced(),
            client.lock(KEY).read(),
        ] {
            let error = lock.acquire().await.unwrap_err();
            assert_eq!(error.kind(), LockErrorKind::Rejected, "{lacking}: {error}");
            assert_eq!(ask::<i64>(&mut admin, &["DBSIZE"]), 0, "{lacking}");
        }
    }
}

#[tokio::test]
async fn right_that_is_taken_away_ends_the_plain_command() {
    let (server, mut admin) = server_and_connection();
    let url = server.user("app", "s3cret", &["~*", "&*", "+@all"]);
    // The server's own compare-and-delete would release the lock without the right.
    let rights = ["ACL", "SETUSER", "app", "-del", "-delifeq", "-delex"];
    let known = |right: &&&str| {
        let name = right.trim_start_matches('-');
        let info: Vec<Option<Vec<redis::Value>>> = ask(&mut admin, &["COMMAND", "INFO", name]);
        !right.starts_with('-') || info[0].is_some()
    };
    let rights: Vec<&str> = rights.iter().filter(known).copied().collect();
    let client = client(url.as_str());
    cycle(&client).await;
    let guard = soon(hold(&client)).await;
    let _: () = ask(&mut server.connection(), &rights);
    // The server refuses it, so the lock stays.
    guard.release().await.unwrap();
    let _: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
    let error = client.lock("another").acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    let keys: Vec<String> = ask(&mut server.connection(), &["KEYS", "*another*"]);
    assert_eq!(keys, [""; 0]);
}

/// Some proxies refuse these, since they route a script by its keys.
#[tokio::test]
async fn no_script_is_sent_without_a_key() {
    let server = RedisServer::start();
    let mut monitor = server.monitor();
    let client = client(server.url());
    cycle(&client).await;
    let reading = client.lock(KEY).read().acquire().await.unwrap();
    reading.release().await.unwrap();
    let sent = monitor.take();
    let scripts = sent
        .iter()
        .filter(|command| command.name.starts_with("EVAL"));
    assert!(scripts.clone().count() > 0, "{sent:?}");
    for script in scripts {
        assert!(script.text.contains(LOCK), "{}", script.text);
    }
}

/// The first call of a connection tries the scripts out; the later ones are as cheap as without.
#[tokio::test]
async fn connection_is_tried_out_once() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut monitor = server.monitor();
    cycle(&client).await;
    let names = monitor.names();
    let tried = names.iter().filter(|name| name.starts_with("EVAL")).count();
    assert!(names.contains(&"SET".to_owned()) && tried >= 2, "{names:?}");
    cycle(&client).await;
    let names = monitor.names();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(names[0], "SET");
}

/// The next owner confirms the grant with a command that needs no memory.
#[tokio::test]
async fn full_server_hands_a_lock_off_to_a_client_that_it_has_refused() {
    let (server, mut admin) = server_and_connection();
    let (holder, waiter) = (client(server.url()), client(server.url()));
    let guard = soon(hold(&holder)).await;
    cycle_of(&waiter, "another").await;
    let waiting = tokio::spawn(waiter.lock(KEY).wait(LONG).acquire());
    is_awaited(&mut admin).await;
    server.config_set("maxmemory", "1");
    let error = waiter.lock("another").acquire().await.unwrap_err();
    assert!(error.to_string().contains("OOM"), "{error}");
    guard.release().await.unwrap();
    served(waiting).await.release().await.unwrap();
}

/// So does a connection that a full server does not let try anything out.
#[tokio::test]
async fn full_server_confirms_a_grant_on_a_new_connection() {
    let server = ScriptedServer::start(Says::Standalone, |_| {
        |words: &[String]| match (&*words[0], words.last().map(String::as_str)) {
            ("EVAL" | "EVALSHA", Some("exclusive")) => {
                "-OOM command not allowed when used memory > 'maxmemory'.\r\n".to_owned()
            }
            ("EVALSHA", _) => bulk(" 1700000000000000"),
            _ => "-ERR unknown command\r\n".to_owned(),
        }
    });
    let client = client(format!("redis://127.0.0.1:{}", server.port()));
    drop(client.lock(KEY).acquire().await.unwrap());
}

/// A record of another program says nothing about the user's rights.
#[tokio::test]
async fn refusal_of_one_key_costs_the_others_nothing() {
    let (server, mut admin) = server_and_connection();
    let client = client(server.url());
    cycle(&client).await;
    let _: i64 = ask(&mut admin, &["RPUSH", "lock:another", "x"]);
    let error = client.lock("another").acquire().await.unwrap_err();
    assert!(error.to_string().contains("WRONGTYPE"), "{error}");
    let mut monitor = server.monitor();
    cycle(&client).await;
    let names = monitor.names();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Redisson's lock is one record, so nothing can be tried out while it is taken.
#[tokio::test]
async fn lock_that_stays_taken_gets_the_source_of_its_trial_once() {
    let (server, mut admin) = server_and_connection();
    server.allow(&["+@all", "allkeys", "allchannels"]);
    let builder = harness::patient(server.url()).record(LockRecord::Redisson);
    let client = builder.build().unwrap();
    let _: i64 = ask(&mut admin, &["HSET", LOCK, "another", "1"]);
    let busy = async || {
        client
            .lock(KEY)
            .wait(ms(0))
            .acquire()
            .await
            .unwrap_err()
            .kind()
    };
    assert_eq!(busy().await, LockErrorKind::Busy);
    let mut monitor = server.monitor();
    assert_eq!(busy().await, LockErrorKind::Busy);
    // The trial and the attempt, both by their digests.
    assert_eq!(monitor.names(), ["EVALSHA"; 2]);

    // A server that has lost the script gets it again, before the lock is taken.
    let _: String = ask(&mut admin, &["SCRIPT", "FLUSH"]);
    let _: i64 = ask(&mut admin, &["DEL", LOCK]);
    monitor.take();
    let guard = client.lock(KEY).acquire().await.unwrap();
    let sources = monitor.names();
    let sources = sources.iter().filter(|name| *name == "EVAL").count();
    assert_eq!(sources, 2, "of the trial and of the attempt");
    guard.release().await.unwrap();
}

async fn cycle_of(client: &LockClient, key: &str) {
    let guard = client.lock(key).acquire().await.unwrap();
    guard.release().await.unwrap();
}
