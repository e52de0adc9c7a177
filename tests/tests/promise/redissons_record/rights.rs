//! The permissions of services, viewers and operators.

use std::slice::from_ref;

use harness::{REDISSON_OPERATOR_RIGHTS, RedisServer, Rights, Users};
use lock_runtime::Record;

#[tokio::test]
async fn printed_rights_are_enough_for_each_role() {
    let server = RedisServer::start();
    let (url, rights) = (server.url(), Rights::in_redissons_record());
    let users = Users::of(from_ref(&server), url, Record::Redisson, rights);
    users.service_takes_locks().await;
    assert_eq!(users.viewer_looks_and_no_more().await, [""; 0]);
    let unused = users.operator_revokes().await;
    assert!(
        !unused
            .iter()
            .any(|right| REDISSON_OPERATOR_RIGHTS.contains(right)),
        "{unused:?}"
    );
}
