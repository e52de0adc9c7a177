//! The permissions of services, viewers and operators on a cluster.

use harness::{CLUSTER_RIGHTS, FENCE, KEY, LOCK, RedisCluster, Rights, Users, hold, patient};
use lock_runtime::LockRecord;

fn users(cluster: &RedisCluster) -> Users<'_> {
    let rights = Rights::with(CLUSTER_RIGHTS, CLUSTER_RIGHTS);
    Users::of(&cluster.nodes, cluster.url(), LockRecord::Native, rights)
}

#[tokio::test]
async fn printed_rights_are_enough_for_each_role() {
    let cluster = RedisCluster::with(3, 0);
    let users = users(&cluster);
    users.service_takes_locks().await;
    assert_eq!(users.viewer_looks_and_no_more().await, ["+asking"]);
    assert_eq!(users.operator_revokes().await, ["+asking"]);
}

/// A node redirects clients to another one for a lock whose slot is moving.
#[tokio::test]
async fn right_to_ask_is_needed_while_a_slot_moves() {
    let cluster = RedisCluster::with(3, 0);
    let users = users(&cluster);
    let guard = hold(&patient(cluster.url()).build().unwrap()).await;
    let token = guard.fencing_token().await.expect("it is held");
    let source = cluster.first_owner(LOCK);
    let (target, slot) = (cluster.other_primary(source), cluster.slot(LOCK));
    cluster.open_slot(slot, source, target);
    for record in [LOCK, FENCE] {
        cluster.move_named(record, source, target);
    }
    let state = users
        .viewer(None)
        .inspect(KEY)
        .await
        .expect("the viewer may inspect");
    assert_eq!(state.holders[0].token, Some(token));
    let refused = users.viewer(Some("+asking")).inspect(KEY).await;
    let error = refused.expect_err("it may not ask");
    assert!(error.is_rejected(), "{error}");
    cluster.close_slot(slot, source, target);
    guard.release().await.expect("it was held");
}
