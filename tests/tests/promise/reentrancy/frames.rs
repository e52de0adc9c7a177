//! The lock is released when the last frame has ended, in any order.

use lock_runtime::{LockClient, LockGuard, in_current_hold};

use super::{at_once, is_held};

#[tokio::test]
async fn frames_may_end_in_any_order() {
    let client = LockClient::memory();
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let outermost = at_once(&client).acquire().await.unwrap();
        let nested = outermost.run(async {
            let nested = at_once(&client).acquire().await.unwrap();
            let deepest = nested.run(async { at_once(&client).acquire().await.unwrap() });
            let deepest = deepest.await.unwrap();
            (nested, deepest)
        });
        let (nested, deepest) = nested.await.unwrap();
        let mut guards = [Some(outermost), Some(nested), Some(deepest)];
        for (ended, index) in order.into_iter().enumerate() {
            let guard = guards[index].take().unwrap();
            assert_eq!(guard.hold_count(), 3 - ended, "{order:?}");
            assert!(is_held(&client).await, "{order:?}");
            guard.release().await.unwrap();
        }
        assert!(!is_held(&client).await, "{order:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_ends_its_turn() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let pending = async |_: &LockGuard| std::future::pending::<()>().await;
        let mut nested = Box::pin(at_once(&client).run(pending));
        let first = tokio::time::timeout(super::ms(5), &mut nested).await;
        assert!(first.is_err(), "it continues");
        assert!(at_once(&client).acquire().await.unwrap_err().is_busy());
        drop(nested);
        at_once(&client).acquire().await.unwrap().hold_count()
    };
    assert_eq!(at_once(&client).run(body).await.unwrap(), 2);
}

#[tokio::test]
async fn a_panic_in_a_nested_body_does_not_affect_the_outer_hold() {
    let client = LockClient::memory();
    let body = async |outer: &LockGuard| {
        let lock = at_once(&client);
        let nested = in_current_hold(lock.run(async |_| panic!("the nested body fails")));
        assert!(tokio::spawn(nested).await.unwrap_err().is_panic());
        assert!(outer.is_valid());
        assert_eq!(outer.hold_count(), 1);
        at_once(&client).acquire().await.unwrap().hold_count()
    };
    assert_eq!(at_once(&client).run(body).await.unwrap(), 2);
    assert!(!is_held(&client).await);
}
