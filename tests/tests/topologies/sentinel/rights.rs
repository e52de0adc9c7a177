//! The permissions of services, viewers and operators on a primary that sentinels watch.

use std::slice::from_ref;

use harness::{
    LONG, RedisServer, Rights, SENTINEL_RIGHTS, Users, ask, client, cycle, eventually, failed,
    patient, sentinel_of, sentinel_url,
};
use lock_runtime::{LockErrorKind, LockRecord};

/// The page of permissions.
const PAGE: &str = include_str!("../../../../lock-runtime/src/docs/security.md");

/// The URL of the sentinels for a user with these rights.
fn url_of(sentinel: &RedisServer, rights: &[&str]) -> String {
    let user = ["ACL", "SETUSER", "watcher", "reset", "on", ">password"];
    ask::<()>(&mut sentinel.connection(), &[&user, rights].concat());
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
    let url = url_of(&sentinel, SENTINEL_RIGHTS);
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

/// The log would contain a command that was refused.
#[tokio::test]
async fn rights_at_sentinels_are_enough_and_each_of_them_is_used() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let mut admin = sentinel.connection();
    let _: () = ask(&mut admin, &["ACL", "LOG", "RESET"]);
    let client = client(url_of(&sentinel, SENTINEL_RIGHTS));
    cycle(&client).await;
    eventually("watch", LONG, async || {
        let clients: String = ask(&mut admin, &["CLIENT", "LIST"]);
        // Redis 6.2 does not report the subcommand.
        let has_asked = |line: &str| {
            line.contains("get-master-addr-by-name") || line.contains(" cmd=sentinel ")
        };
        let watch = |line: &str| line.contains(" sub=1 ") && has_asked(line);
        clients.lines().any(watch)
    })
    .await;
    let refused: Vec<redis::Value> = ask(&mut admin, &["ACL", "LOG"]);
    assert!(refused.is_empty(), "{refused:?}");
    // The user lacks one of the subcommands each time. Redis 6.2 can grant a subcommand, but cannot revoke it.
    for right in SENTINEL_RIGHTS
        .iter()
        .filter(|right| right.starts_with("+sentinel|"))
    {
        let others = SENTINEL_RIGHTS.iter().copied();
        let others: Vec<_> = others.filter(|other| other != right).collect();
        let refused = patient(url_of(&sentinel, &others)).connect().await;
        let error = failed(refused, LockErrorKind::Rejected);
        assert!(error.to_string().contains("NOPERM"), "{error}");
    }
}
