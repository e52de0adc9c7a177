//! The installed client of a process. It is global, so a single test covers its whole life.

use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock, testing};

#[distributed_lock(key = "order:<id>")]
async fn ship(id: u64) -> Result<u64, LockError> {
    Ok(id)
}

#[distributed_lock(key = "order:<id>")]
fn ship_blocking(id: u64) -> Result<u64, LockError> {
    Ok(id)
}

#[tokio::test]
async fn without_a_client_nothing_runs_and_the_first_client_stays() {
    let missing = [
        LockClient::installed().unwrap_err(),
        ship(1).await.unwrap_err(),
        ship_blocking(1).unwrap_err(),
    ];
    for error in missing {
        assert_eq!(error.kind(), LockErrorKind::NotInstalled);
        let text = error.to_string();
        assert!(text.contains("install()"), "{text}");
        assert!(!text.contains("testing::"), "no test has a client: {text}");
    }
    // A spawned task does not inherit the client of the test's future.
    let memory = LockClient::memory();
    let spawned = testing::with_installed(&memory, async { tokio::spawn(ship(1)).await });
    let error = spawned.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::NotInstalled);
    let words = "needs `testing::with_installed` around its own future";
    assert!(error.to_string().contains(words), "{error}");

    LockClient::memory().install().unwrap();
    let error = LockClient::memory().install().unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::AlreadyInstalled);
    assert_eq!(error.to_string(), "a lock client is installed already");

    let client = LockClient::installed().unwrap();
    let _held = client.lock("order:1").acquire().await.unwrap();
    assert_eq!(ship(2).await.unwrap(), 2);
    assert_eq!(ship_blocking(2).unwrap(), 2);
    let attempt = client.lock("order:1").try_acquire().await.unwrap();
    assert!(
        attempt.is_none(),
        "installed and made by hand are one client"
    );
}
