//! The permissions of services, viewers and operators on the nodes of a quorum.

use harness::{QUORUM_RIGHTS, QUORUM_VIEWER_RIGHTS, RedisQuorum, Rights, Users};
use lock_runtime::LockRecord;

#[tokio::test]
async fn printed_rights_are_enough_for_each_role() {
    let quorum = RedisQuorum::start();
    let rights = Rights::with(QUORUM_RIGHTS, QUORUM_VIEWER_RIGHTS);
    let users = Users::of(&quorum.nodes, quorum.url(), LockRecord::Native, rights);
    users.service_takes_locks().await;
    assert_eq!(users.viewer_looks_and_no_more().await, [""; 0]);
    let unused = users.operator_revokes().await;
    // It has no readers, which are what these are for.
    let of_readers = [
        "+pexpireat",
        "+zadd",
        "+zrevrange",
        "+zremrangebyscore",
        "+pubsub|numsub",
    ];
    assert_eq!(unused, of_readers);
}
