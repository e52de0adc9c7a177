//! `lockctl watch` without a terminal.

use harness::{LONG, RedisServer, client};

use crate::{Running, lockctl};

#[tokio::test]
async fn each_change_is_a_line_without_a_terminal() {
    let server = RedisServer::start();
    let service = client(server.url());
    let arguments = ["watch", "order:*", "--interval", "100ms"];
    let mut running = Running::start(lockctl(&server, &arguments));
    let mut lines = running.lines();
    let guard = service.lock("order:42").acquire().await.unwrap();
    let taken = lines.next().unwrap();
    assert!(taken.starts_with("taken  order:42 by "), "{taken}");
    guard.release().await.unwrap();
    let freed = lines.next().unwrap();
    assert!(freed.starts_with("freed  order:42 (was "), "{freed}");
}

#[tokio::test]
async fn changes_are_printed_as_json() {
    let server = RedisServer::start();
    let service = client(server.url());
    let arguments = ["watch", "--interval", "100ms", "--json"];
    let mut running = Running::start(lockctl(&server, &arguments));
    let mut lines = running.lines();
    let guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(
        (&line["change"], &line["key"], &line["token"]),
        (
            &"taken".into(),
            &"order:42".into(),
            &guard.fencing_token().await.unwrap().get().into()
        )
    );
}

/// A second reader and a reservation are not new grants: no line is printed.
#[tokio::test]
async fn change_of_the_label_is_not_a_grant() {
    let server = RedisServer::start();
    let service = client(server.url());
    let arguments = ["watch", "--interval", "100ms"];
    let mut running = Running::start(lockctl(&server, &arguments));
    let mut lines = running.lines();
    let first = service.lock("order:1").read().acquire().await.unwrap();
    assert!(lines.next().unwrap().starts_with("taken  order:1 by "));
    let second = service.lock("order:1").read().acquire().await.unwrap();
    harness::eventually("second reader", LONG, async || {
        service.inspect("order:1").await.unwrap().holders.len() == 2
    })
    .await;
    // Once this lock is listed, the same read has seen the other changes.
    let other = service.lock("order:2").acquire().await.unwrap();
    let line = lines.next().unwrap();
    assert!(line.starts_with("taken  order:2 by "), "{line}");
    drop((first, second, other));
}
