//! Where a campaign may run, and what the calls of other tasks on its thread mean to it.

use std::future::pending;
use std::time::Duration;

use harness::failed;
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard, campaign, testing};
use tokio::sync::oneshot;

/// The lock that it takes there is led, and the lock around it is not.
#[tokio::test(start_paused = true)]
async fn campaign_inside_a_body_leads_below_it() {
    let locks = LockClient::memory();
    let body = async |_: &LockGuard| {
        let mut calls = 0;
        let led = campaign(|| {
            calls += 1;
            let calls = calls;
            let locks = &locks;
            locks.lock("inner").run(async move |_| {
                if calls == 1 {
                    testing::lose(locks, "inner").unwrap();
                    pending::<()>().await;
                }
                calls
            })
        });
        assert_eq!(led.await.unwrap(), Some(2));
        let _occupied = testing::occupy(&locks, "third", "api-7").unwrap();
        let ended = campaign(|| async {
            let body = async |_: &LockGuard| {
                let third = locks.lock("third").wait(Duration::ZERO).acquire();
                third.await.map(drop)
            };
            locks.lock("inner").run(body).await?
        });
        failed(ended.await, LockErrorKind::Busy);
    };
    locks.lock("outer").run(body).await.unwrap();
}

/// A campaign in the body of another: each sees its own lock, also after the other has ended.
#[tokio::test(start_paused = true)]
async fn campaigns_inside_each_other_see_their_own_locks() {
    let locks = LockClient::memory();
    let mut calls = 0;
    let outer = campaign(|| {
        calls += 1;
        let calls = calls;
        let locks = &locks;
        locks.lock("outer").run(async move |_| {
            let inner = campaign(|| locks.lock("inner").run(async |_| ()));
            assert!(inner.await.unwrap().is_some());
            if calls == 1 {
                testing::lose(locks, "outer").unwrap();
                pending::<()>().await;
            }
            calls
        })
    });
    assert_eq!(outer.await.unwrap(), Some(2));
}

/// A task that runs on the thread of the campaign is none of its calls.
#[tokio::test(start_paused = true)]
async fn lock_of_another_task_on_the_same_thread_is_not_led() {
    let locks = LockClient::memory();
    let _occupied = testing::occupy(&locks, "leader", "api-7").unwrap();
    let local = tokio::task::LocalSet::new();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        assert_eq!(calls, 1);
        let lead = locks.lock("leader").wait(Duration::ZERO).acquire();
        let task = local.spawn_local(lead);
        let local = &local;
        async move {
            let lead = local.run_until(task).await.expect("it does not panic");
            lead.map(drop)
        }
    });
    failed(ended.await, LockErrorKind::Busy);
}

/// The guards of a stopped body are released before the campaign ends, in every mode and with several keys.
#[tokio::test(start_paused = true)]
async fn stopped_leader_frees_locks_of_every_kind() {
    let locks = LockClient::memory();
    let calls: [fn(&LockClient) -> lock_runtime::Acquire; 4] = [
        |locks| locks.lock("a"),
        |locks| locks.lock("a").read(),
        |locks| locks.lock("a").permits(5).take(5),
        |locks| locks.lock_all(["a", "b"]),
    ];
    for call in calls {
        let lead = || call(&locks).run(async |_| pending::<()>().await);
        let ended = campaign(lead)
            .until(tokio::time::sleep(Duration::from_secs(1)))
            .await;
        assert!(matches!(ended, Ok(None)), "{ended:?}");
        assert!(locks.held().is_empty());
        let all = locks.lock_all(["a", "b"]).try_acquire().await;
        assert!(all.unwrap().is_some());
    }
}

/// A body that a stop drops may take its other locks again.
#[tokio::test]
async fn destructor_of_a_stopped_body_takes_a_lock_that_the_body_had() {
    struct Last<'a>(&'a LockClient);
    impl Drop for Last<'_> {
        fn drop(&mut self) {
            let log = self.0.lock("log").wait(Duration::from_secs(30));
            log.run_blocking(|_| ()).expect("it is free");
        }
    }
    let locks = LockClient::memory();
    let (stop, stopped) = oneshot::channel();
    let mut stop = Some(stop);
    let lead = || {
        let stop = stop.take().expect("it is called once");
        let locks = &locks;
        let body = async move |_: &LockGuard| -> Result<(), LockError> {
            let _last = Last(locks);
            let _log = locks.lock("log").acquire().await?;
            stop.send(()).expect("it runs");
            pending().await
        };
        async move { locks.lock("leader").run(body).await? }
    };
    let ended = campaign(lead).until(stopped).await;
    assert!(matches!(ended, Ok(None)), "{ended:?}");
}
