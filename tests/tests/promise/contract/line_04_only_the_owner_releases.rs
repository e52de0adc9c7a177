//! Only the owner releases.

use harness::server_and_connection;

use super::{KEY, LOCK, ask, client, hold, soon};

#[tokio::test]
async fn line_4_a_lock_of_another_holder_is_not_released() {
    let (server, mut connection) = server_and_connection();
    let (one, other) = (client(server.url()), client(server.url()));
    for how in 0..3 {
        let stale = hold(&one).await;
        let _: i64 = ask(&mut connection, &["DEL", LOCK]);
        let current = hold(&other).await;
        let before: String = ask(&mut connection, &["GET", LOCK]);
        match how {
            0 => assert!(soon(stale.release()).await.unwrap_err().is_lost()),
            1 => assert!(soon(stale.renew()).await.unwrap_err().is_lost()),
            _ => drop(stale),
        }
        // A command of the same client, which is answered after the stale guard's commands.
        let busy = one.lock(KEY).try_acquire().await.unwrap();
        assert!(busy.is_none());
        let after: String = ask(&mut connection, &["GET", LOCK]);
        assert_eq!(before, after);
        current.renew().await.expect("the other still holds it");
        current.release().await.unwrap();
    }
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 0);
}
