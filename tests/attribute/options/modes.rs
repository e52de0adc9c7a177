//! `mode`, `permits` and `take`: calls that hold a lock together.

use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock};

use super::is_open;

/// The number of free permits of a lock with five.
fn permits_left(locks: &LockClient, key: &str) -> u32 {
    let may_take = |count: &u32| is_open(locks.lock(key).permits(5).take(*count));
    (1..=5).take_while(may_take).count() as u32
}

/// What is available during a call: a reader, a writer, and how many of five permits.
type Beside = (bool, bool, u32);

/// A reader counts as one permit.
const READING: Beside = (true, false, 4);
const WRITING: Beside = (false, false, 0);

fn beside(locks: &LockClient) -> Beside {
    let lock = locks.lock("report");
    (
        is_open(lock.clone().read()),
        is_open(lock.write()),
        permits_left(locks, "report"),
    )
}

/// Asserts what is available during an async and a sync call with these options, one of which may name `extra`.
macro_rules! assert_beside {
    ([$($options:tt)*] => $expected:expr) => { assert_beside!([$($options)*], extra = 0 => $expected) };
    ([$($options:tt)*], $extra:ident = $value:expr => $expected:expr) => {{
        #[distributed_lock(key = "report", client = locks, $($options)*)]
        async fn asynchronous(locks: &LockClient, $extra: u32) -> Result<Beside, LockError> {
            let _ = $extra;
            tokio::task::yield_now().await;
            Ok(beside(locks))
        }

        #[distributed_lock(key = "report", client = locks, $($options)*)]
        fn synchronous(locks: &LockClient, $extra: u32) -> Result<Beside, LockError> {
            let _ = $extra;
            Ok(beside(locks))
        }

        let locks = LockClient::memory();
        assert_eq!(asynchronous(&locks, $value).await.unwrap(), $expected);
        assert_eq!(synchronous(&locks, $value).unwrap(), $expected);
        assert_eq!(beside(&locks), (true, true, 5), "after the calls");
    }};
}

#[tokio::test]
async fn options_decide_which_calls_run_concurrently() {
    assert_beside!([] => WRITING);
    assert_beside!([mode = "write"] => WRITING);
    assert_beside!([mode = "read"] => READING);
    assert_beside!([permits = 5] => (true, false, 4));
    assert_beside!([permits = 0x5, take = 2u32] => (true, false, 3));
    assert_beside!([permits = 5, take = 2 + extra], extra = 1 => (true, false, 2));
    assert_beside!([permits = 5, take = 2 + extra], extra = 3 => (true, false, 0));
}

#[tokio::test]
async fn options_of_a_macro_are_read_like_others() {
    macro_rules! made {
        ($mode:literal => $expected:expr) => { assert_beside!([mode = $mode] => $expected) };
        ($limit:literal, $take:expr => $expected:expr) => {
            assert_beside!([permits = $limit, take = $take] => $expected)
        };
    }
    made!("read" => READING);
    made!("write" => WRITING);
    made!(5, 1 + 2 => (true, false, 2));
}

#[tokio::test]
async fn retained_share_fails_at_run_time_unless_zero() {
    #[distributed_lock(key = "report", mode = "read", retain = retain, client = locks)]
    async fn reading(locks: &LockClient, retain: Duration) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(key = "report", mode = "read", retain = "0s", client = locks)]
    fn never_retained(locks: &LockClient) -> Result<(), LockError> {
        Ok(())
    }

    let locks = LockClient::memory();
    let error = reading(&locks, Duration::from_millis(1)).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
    let sentence = "a share of a lock is never retained";
    assert!(error.to_string().contains(sentence), "{error}");
    reading(&locks, Duration::ZERO).await.unwrap();
    never_retained(&locks).unwrap();
}
