//! A writer that has lost the lock does not become a reader, or not one with a higher token than the next holder.

use harness::{
    KEY, LOCK, LONG, Proxy, RedisServer, ask, client, failed, ms, patient, server_and_connection,
};
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

/// The token was of the time of the downgrade, so the resource refused the holder on the new server.
#[tokio::test]
async fn downgrade_on_a_replaced_server_gets_a_token_below_the_next_holders() {
    for writes in [true, false] {
        let old = RedisServer::start();
        let new = RedisServer::start();
        let proxy = Proxy::start(old.port());
        let [ours, other] = [proxy.url(), new.url()].map(|url| patient(url).build().unwrap());
        // Takes the lock without a token unless it is a writer.
        let lock = ours.lock(KEY).ttl(LONG * 3).wait(LONG);
        let lock = if writes { lock.write() } else { lock };
        let holder = lock.acquire().await.unwrap();
        // The connection stays open, so nothing is noticed.
        proxy.redirect(new.port());
        // The time that the command takes to arrive counts, so the grants are further apart than a stall.
        tokio::time::sleep(ms(2_000)).await;
        let next = other.lock(KEY).ttl(LONG * 3).write().acquire().await;
        let next = next.unwrap().fencing_token().await.unwrap();
        let reader = holder.downgrade().await.unwrap();
        let late = reader.fencing_token().await.unwrap();
        assert!(late < next, "{late} is not below {next}");
    }
}
