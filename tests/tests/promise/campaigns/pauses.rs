//! How often a campaign calls its function.

use std::cell::RefCell;
use std::future::IntoFuture;
use std::time::Duration;

use lock_runtime::{Acquire, LockClient, Standing, campaign, testing};
use tokio::time::{Instant, sleep, timeout};

const KEY: &str = "leader";

/// The times between the calls of a campaign within a minute, in ms, and its reports.
async fn calls(locks: &LockClient, call: impl Fn(Acquire) -> Acquire) -> (Vec<u128>, Vec<String>) {
    let (times, reports) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let standing = campaign(|| {
        times.borrow_mut().push(Instant::now());
        call(locks.lock(KEY)).run(async |_| sleep(Duration::from_secs(3600)).await)
    });
    let standing = standing.on_change(|standing| {
        reports.borrow_mut().push(match standing {
            Standing::Again { why } => format!("{:?}", why.kind()),
            other => format!("{other:?}"),
        });
    });
    let minute = timeout(Duration::from_secs(60), standing.into_future()).await;
    assert!(minute.is_err(), "it goes on");
    let times = times.into_inner();
    let pauses = times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis());
    (pauses.collect(), reports.into_inner())
}

#[tokio::test(start_paused = true)]
async fn busy_lock_is_asked_for_once_a_second() {
    let locks = LockClient::memory();
    let _occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
    let (pauses, reports) = calls(&locks, |lock| lock.wait(Duration::ZERO)).await;
    assert!((48..=80).contains(&pauses.len()), "{pauses:?}");
    assert!(
        pauses.iter().all(|pause| (750..=1_251).contains(pause)),
        "{pauses:?}"
    );
    assert!(pauses.iter().any(|pause| *pause != pauses[0]), "{pauses:?}");
    assert_eq!(reports, ["Candidate", "Busy"]);
}

#[tokio::test(start_paused = true)]
async fn wait_is_the_stand_of_a_call() {
    let locks = LockClient::memory();
    let _occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
    let (pauses, reports) = calls(&locks, |lock| lock.wait(Duration::from_secs(10))).await;
    assert_eq!(pauses.len(), 5);
    assert!(
        pauses.iter().all(|pause| (10_000..=10_010).contains(pause)),
        "{pauses:?}"
    );
    assert_eq!(reports, ["Candidate", "Busy"]);
}

#[tokio::test(start_paused = true)]
async fn pauses_of_an_outage_grow_to_five_seconds() {
    let locks = LockClient::memory();
    let _away = testing::disconnect(&locks).unwrap();
    let (pauses, reports) = calls(&locks, |lock| lock.wait(Duration::ZERO)).await;
    let most = [200, 400, 800, 1_600, 3_200, 5_000];
    for (number, pause) in pauses.iter().enumerate() {
        let most = most.get(number).copied().unwrap_or(5_000);
        assert!(
            (most / 2..=most + 1).contains(pause),
            "{number}: {pauses:?}"
        );
    }
    assert!(pauses.len() > 14, "{pauses:?}");
    assert_eq!(reports, ["Candidate", "Unavailable"]);
}

/// Each reason that differs from the last one is reported, and each time that the campaign leads.
#[tokio::test(start_paused = true)]
async fn changes_are_reported_once() {
    let locks = LockClient::memory();
    let changes = async {
        let occupied = testing::occupy(&locks, KEY, "api-7").unwrap();
        sleep(Duration::from_secs(5)).await;
        let away = testing::disconnect(&locks).unwrap();
        sleep(Duration::from_secs(5)).await;
        drop(away);
        sleep(Duration::from_secs(10)).await;
        drop(occupied);
        sleep(Duration::from_secs(5)).await;
        for _ in 0..2 {
            testing::lose(&locks, KEY).unwrap();
            sleep(Duration::from_secs(5)).await;
        }
    };
    let standing = calls(&locks, |lock| lock.wait(Duration::ZERO));
    let ((), (_, reports)) = tokio::join!(changes, standing);
    let leads = r#"Leader { key: "leader" }"#;
    let before = ["Candidate", "Busy", "Unavailable", "Busy", leads];
    let expected = [&before[..], &["Lost", leads, "Lost", leads]].concat();
    assert_eq!(reports, expected);
}
