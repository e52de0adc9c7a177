//! One of several candidates leads, and the next one takes over.

use std::future::{IntoFuture, pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::{eventually, revoke, sees_waiters, soon};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard, Standing, campaign};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::store::Store;
use super::tools::{Flag, KEY, LONG, STEADY, hold, is_refused};

/// What a candidate has reported.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<String>>>);

impl Reports {
    fn add(&self, standing: &Standing<'_>) {
        let text = match standing {
            Standing::Candidate => "stands".to_owned(),
            Standing::Leader { key } => format!("leads {key}"),
            Standing::Again { why } => format!("{:?}", why.kind()),
            other => panic!("{other:?}"),
        };
        self.0.lock().unwrap().push(text);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    async fn become_many(&self, number: usize) {
        eventually("report", LONG, async || self.all().len() >= number).await;
    }
}

/// A candidate on its own task, until it is stopped.
struct Candidate {
    stop: oneshot::Sender<()>,
    campaign: JoinHandle<Result<Option<()>, LockError>>,
    reports: Reports,
}

impl Candidate {
    /// Leads for ever once it leads.
    fn start(client: LockClient, wait: Duration) -> Candidate {
        let reports = Reports::default();
        let (stop, stopped) = oneshot::channel();
        let campaign = tokio::spawn({
            let reports = reports.clone();
            async move {
                let lead = || {
                    client
                        .lock(KEY)
                        .ttl(STEADY)
                        .wait(wait)
                        .run(async |_| pending().await)
                };
                campaign(lead)
                    .on_change(|standing| reports.add(&standing))
                    .until(stopped)
                    .await
            }
        });
        Candidate {
            stop,
            campaign,
            reports,
        }
    }

    async fn leads(&self) {
        let leads = async || {
            self.reports
                .all()
                .last()
                .is_some_and(|it| it == "leads order:42")
        };
        eventually("leader", LONG, leads).await;
    }

    async fn stopped(self) {
        self.stop.send(()).expect("it runs");
        let ended = soon(self.campaign).await.expect("it does not panic");
        assert!(matches!(ended, Ok(None)), "{ended:?}");
    }
}

/// Its lock is free when the campaign is over, not some time later.
pub(crate) async fn stopped_leader_has_freed_its_lock(store: Store) {
    let client = store.client();
    let leader = Candidate::start(store.client(), LONG);
    leader.leads().await;
    assert!(is_refused(client.lock(KEY)).await);
    assert_eq!(leader.reports.all(), ["stands", "leads order:42"]);
    leader.stopped().await;
    assert!(!is_refused(client.lock(KEY)).await);
}

pub(crate) async fn next_candidate_leads_when_the_leader_stops(store: Store) {
    let [first, second, third] = [(); 3].map(|()| Candidate::start(store.client(), LONG));
    let candidates = [first, second, third];
    let mut candidates = candidates.into_iter().collect::<Vec<_>>();
    while !candidates.is_empty() {
        let leading = |it: &Candidate| it.reports.all().len() == 2;
        let mut leader = None;
        eventually("leader", LONG, async || {
            leader = candidates.iter().position(leading);
            leader.is_some()
        })
        .await;
        let number = candidates.iter().filter(|it| leading(it)).count();
        assert_eq!(number, 1, "only one leads");
        candidates.remove(leader.unwrap()).stopped().await;
    }
}

pub(crate) async fn stopped_candidate_leaves_the_queue(store: Store) {
    let operator = store.operator();
    let guard = hold(&store.client()).await;
    let candidate = Candidate::start(store.client(), LONG);
    // It reports this in the same poll in which it asks for the first time.
    candidate.reports.become_many(1).await;
    if store.has_queue() {
        sees_waiters(&operator, KEY, 1).await;
    }
    candidate.stopped().await;
    sees_waiters(&operator, KEY, 0).await;
    guard.release().await.unwrap();
    assert!(!is_refused(store.client().lock(KEY)).await);
}

pub(crate) async fn leader_that_loses_its_lock_stands_again_at_once(store: Store) {
    let operator = store.operator();
    let leader = Candidate::start(store.client(), LONG);
    leader.leads().await;
    let seen = operator.inspect(KEY).await.unwrap();
    let seen = seen.holders[0].reference.expect("it can be revoked");
    revoke(&operator, KEY, seen).await;
    leader.reports.become_many(4).await;
    let reports = ["stands", "leads order:42", "Lost", "leads order:42"];
    assert_eq!(leader.reports.all(), reports);
    leader.stopped().await;
}

pub(crate) async fn candidate_that_does_not_wait_asks_again(store: Store) {
    let guard = hold(&store.client()).await;
    let candidate = Candidate::start(store.client(), Duration::ZERO);
    candidate.reports.become_many(2).await;
    guard.release().await.unwrap();
    candidate.leads().await;
    // However often it asked.
    let reports = ["stands", "Busy", "leads order:42"];
    assert_eq!(candidate.reports.all(), reports);
    candidate.stopped().await;
}

/// Otherwise a leader whose body cannot work would spin.
pub(crate) async fn failure_of_a_lock_inside_the_body_ends_the_campaign(store: Store) {
    let client = store.client();
    let inner = store.client().lock("inner").acquire().await.unwrap();
    let mut calls = 0;
    let ended = campaign(|| {
        calls += 1;
        assert_eq!(calls, 1);
        let body = async |_: &LockGuard| client.lock("inner").wait(Duration::ZERO).acquire().await;
        let led = client.lock(KEY).run(body);
        async { led.await?.map(drop) }
    });
    let error = soon(ended.into_future()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.key()),
        (LockErrorKind::Busy, Some("inner"))
    );
    inner.release().await.unwrap();
    assert!(!is_refused(client.lock(KEY)).await);
}

pub(crate) async fn campaign_that_is_stopped_already_asks_for_nothing(store: Store) {
    let client = store.client();
    let called = Flag::default();
    let lead = || {
        called.raise();
        client.lock(KEY).run(async |_| ())
    };
    let ended = campaign(lead).until(ready(())).await;
    assert!(matches!(ended, Ok(None)), "{ended:?}");
    assert!(!called.is_up());
}

/// The stop comes while its lock is being released.
pub(crate) async fn result_of_a_leader_that_is_done_survives_a_stop(store: Store) {
    let client = store.client();
    let (stop, stopped) = oneshot::channel();
    let mut stop = Some(stop);
    let lead = || {
        let stop = stop.take().expect("it is called once");
        let body = async |_: &LockGuard| stop.send(()).expect("it runs");
        client.lock(KEY).run(body)
    };
    let ended = soon(campaign(lead).until(stopped).into_future()).await;
    assert!(matches!(ended, Ok(Some(()))), "{ended:?}");
    assert!(!is_refused(client.lock(KEY)).await);
}

pub(crate) async fn dropped_campaign_frees_its_lock(store: Store) {
    let leader = Candidate::start(store.client(), LONG);
    leader.leads().await;
    leader.campaign.abort();
    let client = store.client();
    eventually("free lock", LONG, async || {
        !is_refused(client.lock(KEY)).await
    })
    .await;
}

pub(crate) async fn panic_of_a_leader_frees_its_lock(store: Store) {
    let client = store.client();
    let lead = {
        let client = client.clone();
        move || {
            client.lock(KEY).ttl(STEADY).run(async |_| {
                tokio::task::yield_now().await;
                std::panic::resume_unwind(Box::new("on purpose"));
            })
        }
    };
    let leader = tokio::spawn(campaign(lead).into_future());
    assert!(soon(leader).await.unwrap_err().is_panic());
    eventually("free lock", LONG, async || {
        !is_refused(client.lock(KEY)).await
    })
    .await;
}
