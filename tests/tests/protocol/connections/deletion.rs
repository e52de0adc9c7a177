//! Releases by a command that compares the record and deletes it, on a server that has one. On other servers these
//! tests run with the script.

use harness::{
    LOCK, RedisServer, deletion, in_line, patient, release_command, server_and_connection, token_of,
};

use super::*;

/// The record differs from the granted one, so it is not deleted, and the lock is ended.
#[tokio::test]
async fn flag_unknown_to_the_holder_leads_to_end() {
    let (server, mut connection) = server_and_connection();
    let client = client(server.url());
    cycle(&client).await;
    let guard = hold(&client).await;
    let _: i64 = ask(&mut connection, &["SETRANGE", LOCK, "22", "+"]);
    let mut monitor = server.monitor();
    guard.release().await.unwrap();
    let names = monitor.names();
    assert_eq!(names[0], release_command(&mut connection));
    assert!(names[1].starts_with("EVAL"), "{names:?}");
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 0);
}

/// The record has the token of the grant's first caller, or none: the holder knows which.
#[tokio::test]
async fn lease_that_served_several_callers_is_released_by_one_command() {
    let server = RedisServer::start();
    let release = release_command(&mut server.connection());
    let client = client(server.url());
    cycle(&client).await;
    for has_token in [true, false] {
        let first = hold(&client).await;
        let second = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        in_line(&client, 1).await;
        let mut token = None;
        if has_token {
            token = Some(token_of(&first).await.get());
        }
        let mut monitor = server.monitor();
        first.release().await.unwrap();
        let second = served(second).await;
        if let Some(token) = token {
            let next = token_of(&second).await.get();
            assert_eq!(next, token + 1, "a local turn");
        }
        second.release().await.unwrap();
        assert_eq!(monitor.names(), [release]);
    }
}

/// The command is refused once per connection; from then on the script is used.
#[tokio::test]
async fn user_without_the_right_releases_by_script() {
    let (server, mut admin) = server_and_connection();
    let mut rights = vec!["~*", "&*", "+@all"];
    let lacking = deletion(&mut admin).map(|words| format!("-{}", words[0].to_lowercase()));
    rights.extend(lacking.as_deref());
    let url = server.user("app", "s3cret", &rights);
    let client = patient(url).connect().await.unwrap();
    for _ in 0..3 {
        cycle(&client).await;
        assert_eq!(ask::<i64>(&mut admin, &["EXISTS", LOCK]), 0);
    }
    let mut monitor = server.monitor();
    cycle(&client).await;
    assert_eq!(monitor.names(), ["SET", "EVALSHA"]);
    let errors: String = ask(&mut admin, &["INFO", "errorstats"]);
    let refused = errors.contains("errorstat_NOPERM:count=1\r\n");
    assert_eq!(refused, lacking.is_some(), "{errors}");
}

/// The server's version does not reveal that it lacks the command.
#[tokio::test]
async fn server_without_the_command_is_released_by_script() {
    let lacking = deletion(&mut RedisServer::start().connection());
    let server = match lacking {
        Some(words) => RedisServer::builder().without(words[0]).start(),
        None => RedisServer::start(),
    };
    let client = client(server.url());
    cycle(&client).await;
    let mut monitor = server.monitor();
    cycle(&client).await;
    assert_eq!(monitor.names(), ["SET", "EVALSHA"]);
}
