//! A writer that has lost the lock does not become a reader.

use harness::{KEY, LOCK, LONG, ask, client, failed, server_and_connection};
use lock_runtime::LockErrorKind;

/// The server took a free lock for the reader, and an error was never reported: another writer had come and gone.
#[tokio::test]
async fn downgrade_of_a_lost_writer_fails_as_lost() {
    let (server, mut connection) = server_and_connection();
    let [ours, other] = [(); 2].map(|()| client(server.url()));
    let write =
        |client: &lock_runtime::LockClient| client.lock(KEY).ttl(LONG * 3).write().acquire();
    for loss in [&["DEL", LOCK][..], &["FLUSHALL"]] {
        for comes_another in [false, true] {
            let writing = write(&ours).await.unwrap();
            ask::<redis::Value>(&mut connection, loss);
            if comes_another {
                write(&other).await.unwrap().release().await.unwrap();
            }
            let failed = failed(writing.downgrade().await, LockErrorKind::Lost);
            assert!(failed.to_string().contains(KEY), "{failed}");
            // Nothing of it is left that would keep a writer out.
            let next = other.lock(KEY).write().try_acquire().await.unwrap();
            next.expect("it is free").release().await.unwrap();
        }
    }
}
