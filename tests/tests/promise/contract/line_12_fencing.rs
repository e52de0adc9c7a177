//! A guarantee that no lease gives, and the fencing token does.

use harness::{Entry, History, RedisServer, Written, wait_until};

use super::{KEY, LONG, client, hold, ms, soon};

fn entry(guard: &lock_runtime::LockGuard, seen: usize, writer: &str) -> Entry {
    Entry {
        token: guard.fencing_token().get(),
        seen,
        writer: writer.to_owned(),
        share: None,
    }
}

#[tokio::test]
async fn line_12_a_stale_holder_is_betrayed_by_its_token() {
    let server = RedisServer::start();
    let (slow, quick) = (client(server.url()), client(server.url()));
    let register = History::of(KEY);
    let mut connection = server.async_connection().await;

    // A body that does not await blocks its thread past the lease, and cannot be stopped.
    let lease = slow.lock(KEY).ttl(ms(100)).renew(false);
    let stale = lease.acquire().await.unwrap();
    let token = stale.fencing_token().get();
    let seen = register.look(&mut connection, token).await.unwrap();
    wait_until("end of the lease", LONG, || !stale.is_valid());

    let current = hold(&quick).await;
    let visit = entry(&current, seen, "current");
    assert!(register.append(&mut connection, &visit).await.unwrap());
    let late = entry(&stale, seen, "stale");
    assert!(!register.append(&mut connection, &late).await.unwrap());
    assert!(soon(stale.release()).await.unwrap_err().is_lost());
    current
        .release()
        .await
        .expect("it held the lock throughout");
    let written = register.read_written(&mut server.connection());
    assert_eq!(History::stale_writes(&written), Vec::<&Written>::new());
}
