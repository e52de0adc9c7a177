use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::task::{self, Poll, Wake};
use std::thread;
use std::time::Duration;

use super::*;
use crate::backend::engine::holding::Holding;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::wire::End;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{Answered, EndReply};
use crate::key::{Lock, LockKey, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule};
use crate::lease::{LossReason, Mode};
use crate::telemetry::CallLabels;

/// A wire to a server that never answers.
#[derive(Default)]
pub(crate) struct SilentWire {
    /// Receives the owners that the wire must end.
    pub(super) ends: Option<mpsc::Sender<OwnerId>>,
    /// Makes the next end panic.
    pub(super) panics: AtomicBool,
}

impl SilentWire {
    async fn silent_end<T>(&self, owner: &Owner) -> T {
        let panics = self.panics.swap(false, Ordering::Relaxed);
        assert!(!panics, "as the test wants it");
        if let Some(ends) = &self.ends {
            let _ = ends.send(owner.id());
        }
        pending().await
    }
}

impl SilentWire {
    pub(super) async fn end(
        &self,
        owner: &mut Owner,
        how: End<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        match how {
            End::Reserve { .. } => pending().await,
            End::Release { .. } | End::Whole { .. } => self.silent_end(owner).await,
        }
    }
}

/// A request for the lock `key`.
pub(super) fn request(wait: Duration) -> Request {
    let key = LockKey::from("key".to_owned());
    let names = RecordNames::new("lock:", &key).unwrap();
    Request {
        locks: OneOrMore::from(Lock { key, names }),
        mode: Mode::Exclusive,
        terms: LeaseTerms {
            ttl: Duration::from_secs(3600),
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
            min_hold_ms: 0,
        },
        wait,
        fenced: false,
        label: "".into(),
        labels: CallLabels::new("", "key"),
        run: None,
    }
}

/// The holder hands its lease over just when the next caller is dropped. That caller was already promoted, so it can no
/// longer leave the queue, and it never reads the reply.
#[test]
fn lease_handed_to_a_caller_that_has_just_gone_is_released() {
    let client = open(&Options::default(), Clock::Boot, |_, _| {
        Ok(Servers::Silent(SilentWire::default()))
    })
    .unwrap();
    let request = request(Duration::from_secs(9));
    let entry = head_with_the_lock(&client, &request);
    let lease = entry.lease.clone();
    client.registry().insert(entry);
    let until = Instant::now() + request.wait;
    let Joined::Waits(position) = join_queue::join(&client, request, until) else {
        panic!("the queue has a head");
    };
    position.vanish();
    assert_eq!(
        local_turns::hand_over(&client, &lease, true),
        Some(ReleaseOutcome::HandedOver)
    );
    assert_eq!(client.registry().entries().count(), 0, "no caller holds it");
}

/// The answer to the end takes long, and the next caller does not wait for it.
#[test]
fn local_queue_ends_with_every_end_of_a_retained_lease() {
    let request = request(Duration::ZERO);
    let lock = &request.lock().names.lock;
    type End = fn(&Arc<Remote>, OwnerId);
    let endings: [End; 3] = [
        |client, owner_id| watchdog::declare_lost(client, owner_id, Some(LossReason::NotOurs)),
        |client, owner_id| {
            let retained = client.registry().retained.remove_owner(owner_id);
            release::release_unawaited(client, retained.expect("the lease is retained"));
        },
        |client, _| client.stop_retaining(),
    ];
    for end in endings {
        let client = open(&Options::default(), Clock::Boot, |_, _| {
            Ok(Servers::Silent(SilentWire::default()))
        })
        .unwrap();
        let entry = head_with_the_lock(&client, &request);
        let (owner_id, until) = (entry.owner.id(), client.now() + Duration::from_secs(9));
        client.registry().retained.insert(Box::new(entry), until);
        assert!(client.queues().enter(lock).is_some(), "it has a head");
        end(&client, owner_id);
        assert!(client.queues().enter(lock).is_none(), "it is a new one");
    }
}

/// Acquires the requested lock for the head of its local queue.
pub(super) fn head_with_the_lock(client: &Arc<Remote>, request: &Request) -> LeaseEntry {
    let Lock { names, .. } = request.lock().clone();
    let granted_at = client.now();
    let schedule = RenewalSchedule::granted(granted_at, &request.terms);
    let owner = client
        .new_owner(&Arc::default(), names.clone().into(), Mode::Exclusive)
        .unwrap();
    let number = FencingToken::absent(0);
    let lease = Arc::new(Lease::new(
        request,
        owner.id(),
        None,
        Clock::Boot,
        &schedule,
    ));
    assert!(client.queues().enter(&names.lock).is_none());
    let holding = Holding::granted(granted_at, false, true);
    LeaseEntry::new(lease, owner, schedule, number, holding)
}

/// Takes the queues' mutex on another thread as soon as it is woken.
struct LocksQueues {
    client: Arc<Remote>,
    is_locked: Mutex<Option<bool>>,
}

impl Wake for LocksQueues {
    fn wake(self: Arc<LocksQueues>) {
        let (locked, is_locked) = mpsc::channel();
        let client = self.client.clone();
        thread::spawn(move || {
            drop(client.queues());
            let _ = locked.send(());
        });
        let is_locked = is_locked.recv_timeout(Duration::from_secs(5)).is_ok();
        *self.is_locked.lock().unwrap() = Some(is_locked);
    }
}

#[test]
fn caller_whose_time_is_up_is_woken_without_a_mutex() {
    let client = open(&Options::default(), Clock::Boot, |_, _| {
        Ok(Servers::Silent(SilentWire::default()))
    })
    .unwrap();
    let request = request(Duration::from_millis(1));
    let lock = request.lock().names.lock.clone();
    assert!(client.queues().enter(&lock).is_none());
    client.announce(Mode::Exclusive, &lock, LastKnown::HandedOff);
    let Joined::Waits(position) = join_queue::join(&client, request, Instant::now()) else {
        panic!("the queue has a head");
    };
    let waker = Arc::new(LocksQueues {
        client: client.clone(),
        is_locked: Mutex::default(),
    });
    let mut waiting = pin!(position.wait());
    let outcome = loop {
        *waker.is_locked.lock().unwrap() = None;
        let waker_of_task = waker.clone().into();
        let mut context = task::Context::from_waker(&waker_of_task);
        if let Poll::Ready(outcome) = waiting.as_mut().poll(&mut context) {
            break outcome;
        }
        // A timer wakes the loop when its time is up.
        while waker.is_locked.lock().unwrap().is_none() {
            thread::yield_now();
        }
    };
    let error = outcome.expect_err("the lock is held");
    assert!(error.is_busy(), "{error}");
    assert_eq!(*waker.is_locked.lock().unwrap(), Some(true));
}
