//! Commands that a server refused while its password or its certificate was changed.

use harness::{KEY, LOCK, LONG, ask, behind_a_proxy, cycle, eventually, exists, is_free, ms};
use lock_runtime::LockErrorKind;

/// The refused release counted as answered, and the lock stayed for its whole ttl.
#[tokio::test]
async fn a_lock_is_released_when_the_server_accepts_the_client_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = client.lock(KEY).ttl(ms(600_000)).acquire().await.unwrap();
    server.config_set("requirepass", "another");
    proxy.kill_connections();
    guard.release().await.expect("it was held until then");
    let mut connection = server.connection();
    assert!(exists(&mut connection, LOCK));
    // After another refusal the release is still repeated.
    let attempts = proxy.accepted();
    eventually("attempts", LONG, async || proxy.accepted() >= attempts + 2).await;
    server.config_set("requirepass", "");
    is_free(&mut connection, LONG).await;
    cycle(&client).await;
}

/// A caller that was refused kept a grant whose answer was lost.
#[tokio::test]
async fn caller_that_was_granted_and_refused_leaves_nothing() {
    for (command, fenced) in [("SET", false), ("EVALSHA", true)] {
        let (server, proxy, client) = behind_a_proxy().await;
        server.config_set("requirepass", "another");
        proxy.cut_next_reply(command);
        let asking = client.lock(KEY).ttl(ms(600_000)).wait(LONG);
        let asking = if fenced { asking.fenced() } else { asking };
        let error = asking.await.expect_err("the answer is lost");
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
        let mut connection = server.connection();
        assert!(exists(&mut connection, LOCK), "it was granted");
        server.config_set("requirepass", "");
        is_free(&mut connection, LONG).await;
    }
}

/// A release that was never sent, because there was no connection, counted as one that may have freed the lock. When it
/// was sent and answered "not yours", the call succeeded.
#[tokio::test]
async fn a_lock_that_another_has_is_lost_after_any_number_of_unsent_releases() {
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = client
        .lock(KEY)
        .ttl(ms(600_000))
        .renew(false)
        .acquire()
        .await
        .unwrap();
    ask::<()>(
        &mut server.connection(),
        &["SET", LOCK, "another program's"],
    );
    proxy.refuse(true);
    proxy.kill_connections();
    // The client has noticed the outage, and has received no answer about the lock.
    eventually("attempt", LONG, async || proxy.refused() > 0).await;
    let attempts = proxy.refused();
    let release = tokio::spawn(guard.release());
    eventually("attempts", LONG, async || proxy.refused() > attempts + 1).await;
    proxy.refuse(false);
    let error = release.await.unwrap().expect_err("another caller has it");
    assert_eq!(error.kind(), LockErrorKind::Lost, "{error}");
}
