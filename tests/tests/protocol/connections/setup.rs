//! The commands of a new connection before its first lock command.

use harness::{RedisServer, patient};

use super::*;

#[tokio::test]
async fn a_server_is_checked_once_per_process_without_extra_round_trips() {
    let server = RedisServer::start();
    server.allow(&["+info"]);
    let mut monitor = server.monitor();
    let first = patient(server.url()).connect().await.unwrap();
    let names_of_first = monitor.names();
    assert_eq!(names_of_first, ["HELLO", "SUBSCRIBE", "INFO", "PING"]);
    let second = patient(server.url()).connect().await.unwrap();
    assert_eq!(monitor.names(), ["HELLO", "SUBSCRIBE", "PING"]);
    // Nor does the next connection of the same client check again.
    let kill = ["CLIENT", "KILL", "TYPE", "pubsub"];
    let _: i64 = ask(&mut server.connection(), &kill);
    cycle(&first).await;
    cycle(&second).await;
    let later = monitor.names();
    assert!(later.contains(&"SUBSCRIBE".to_owned()), "{later:?}");
    assert!(!later.contains(&"INFO".to_owned()), "{later:?}");
}
