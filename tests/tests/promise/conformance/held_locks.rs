//! The current call tree is asked for its locks.

use lock_runtime::{LockClient, LockError, LockGuard, distributed_lock};

use super::store::{Mode, Store};
use super::tools::KEY;

fn holds(client: &LockClient) -> [bool; 2] {
    let write = || lock_runtime::assert_locked!(write KEY, client = client);
    let write = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write));
    [client.holds(KEY), write.is_ok()]
}

/// In every mode, in nested bodies of other modes, and by clones of the client only.
pub(crate) async fn held_lock_is_known_to_its_call_tree(store: Store) {
    let (client, other) = (store.client(), LockClient::memory());
    for (number, mode) in store.modes.iter().enumerate() {
        let is_exclusive = number == 0;
        let body = async |_: &LockGuard| {
            assert_eq!(holds(&client), [true, is_exclusive]);
            assert_eq!(holds(&client.clone()), [true, is_exclusive]);
            assert_eq!(holds(&other), [false, false]);
            assert!(!client.holds("another"));
            let inner = mode(client.lock(KEY)).run(async |_| holds(&client)).await;
            assert_eq!(inner.unwrap(), [true, is_exclusive]);
        };
        assert_eq!(holds(&client), [false, false]);
        mode(client.lock(KEY)).run(body).await.unwrap();
        assert_eq!(holds(&client), [false, false]);
    }
    // Readers of other trees cannot come in, but the body asked to read only.
    if let [_, read, ..] = store.modes {
        let read: Mode = *read;
        let body = async |_: &LockGuard| read(client.lock(KEY)).run(async |_| holds(&client)).await;
        let inner = client.lock(KEY).run(body).await.unwrap();
        assert_eq!(inner.unwrap(), [true, false]);
    }
}

#[distributed_lock(key = KEY, ttl = "1500ms", renew = false, on_lost = "finish", guard = held, client = locks)]
async fn outlives_its_lock(locks: &LockClient) -> Result<[bool; 2], LockError> {
    held.lost().await;
    Ok(holds(locks))
}

/// Even where the body goes on.
pub(crate) async fn lost_lock_is_not_held(store: Store) {
    let client = store.client();
    assert_eq!(outlives_its_lock(&client).await.unwrap(), [false, false]);
}
