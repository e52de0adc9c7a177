//! The permissions of services, viewers and operators.

use std::slice::from_ref;

use harness::{RedisServer, Rights, Users};
use lock_runtime::LockRecord;

#[tokio::test]
async fn printed_rights_are_enough_for_each_role() {
    let server = RedisServer::start();
    let (url, rights) = (server.url(), Rights::in_redissons_record());
    let users = Users::of(from_ref(&server), url, LockRecord::Redisson, rights);
    users.assert_rights_in_redissons_record().await;
}
