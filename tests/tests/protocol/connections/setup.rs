//! What a connection costs before its first command.

use harness::{Monitor, RedisServer};

use super::*;

fn names(monitor: &mut Monitor) -> Vec<String> {
    monitor
        .take()
        .into_iter()
        .map(|command| command.name)
        .collect()
}

#[tokio::test]
async fn a_server_is_looked_at_once_a_process_and_on_the_way_of_what_is_sent_anyway() {
    let server = RedisServer::start();
    server.allow(&["+info"]);
    let mut monitor = server.monitor();
    let first = LockClient::connect(&server.url()).await.unwrap();
    let names_of_first = names(&mut monitor);
    assert_eq!(names_of_first, ["HELLO", "SUBSCRIBE", "INFO", "PING"]);
    let second = LockClient::connect(&server.url()).await.unwrap();
    assert_eq!(names(&mut monitor), ["HELLO", "SUBSCRIBE", "PING"]);
    // A new connection of an old client does not look again either.
    let kill = ["CLIENT", "KILL", "TYPE", "pubsub"];
    let _: i64 = ask(&mut server.connection(), &kill);
    cycle(&first).await;
    cycle(&second).await;
    let later = names(&mut monitor);
    assert!(later.contains(&"SUBSCRIBE".to_owned()), "{later:?}");
    assert!(!later.contains(&"INFO".to_owned()), "{later:?}");
}
