//! Locks over a unix socket.

use std::path::PathBuf;

use harness::{RedisServer, patient};
use tempfile::TempDir;

use super::*;

/// A server with a unix socket in a folder with a space in its name.
pub(super) fn server() -> (TempDir, PathBuf, RedisServer) {
    let folder = tempfile::Builder::new()
        .prefix("lock tests")
        .tempdir()
        .unwrap();
    let path = folder.path().join("redis.sock");
    let builder = RedisServer::builder().config("unixsocket", path.to_str().unwrap());
    (folder, path, builder.start())
}

fn url(path: &std::path::Path) -> String {
    format!(
        "redis+unix://{}",
        path.to_str().unwrap().replace(' ', "%20")
    )
}

#[tokio::test]
async fn user_password_and_database_are_in_the_parameters() {
    let (_folder, path, server) = server();
    server.user("app", "a+b c&d", &["~*", "&*", "+@all"]);
    let url = format!("{}?db=3&user=app&pass=a+b%20c%26d", url(&path));
    let client = patient(url).connect().await.unwrap();
    let guard = hold(&client).await;
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let ours = |line: &&str| line.contains("user=app") && line.contains("db=3");
    assert_eq!(list.lines().filter(ours).count(), 1, "{list}");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let (_folder, path, mut server) = server();
    let client = patient(url(&path)).connect().await.unwrap();
    cycle(&client).await;
    server.kill9();
    let error = client.lock(KEY).wait(ms(100)).acquire().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    server.restart();
    cycle(&client).await;
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_an_outage() {
    let folder = TempDir::new().unwrap();
    let error = patient(url(&folder.path().join("none.sock")))
        .connect()
        .await;
    let error = error.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("cannot connect"), "{error}");
}
