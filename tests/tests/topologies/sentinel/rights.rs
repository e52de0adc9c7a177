//! The permissions of services, viewers and operators on a primary that sentinels watch.

use std::slice::from_ref;

use harness::{RedisServer, Rights, SENTINEL_RIGHTS, Users, ask, sentinel_of, sentinel_url};
use lock_runtime::LockRecord;

/// The page of permissions.
const PAGE: &str = include_str!("../../../../lock-runtime/src/docs/security.md");

/// The URL of sentinels at which the user has the printed rights.
fn url_of(sentinel: &RedisServer) -> String {
    let user = ["ACL", "SETUSER", "watcher", "reset", "on", ">password"];
    let user = [&user, SENTINEL_RIGHTS].concat();
    ask::<()>(&mut sentinel.connection(), &user);
    let login = "?sentinel_user=watcher&sentinel_password=password#";
    sentinel_url(&[sentinel]).replace('#', login)
}

#[tokio::test]
async fn printed_rights_are_enough_for_each_role() {
    let page: Vec<_> = PAGE.split_whitespace().collect();
    let mut printed = page.windows(SENTINEL_RIGHTS.len());
    assert!(printed.any(|words| words == SENTINEL_RIGHTS));
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let url = url_of(&sentinel);
    let users = Users::of(
        from_ref(&server),
        url,
        LockRecord::Native,
        Rights::of_server(),
    );
    users.service_takes_locks().await;
    assert_eq!(users.viewer_looks_and_no_more().await, [""; 0]);
    assert_eq!(users.operator_revokes().await, [""; 0]);
}
