use std::future::pending;
use std::time::Duration;

use super::*;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{AcquireRequest, EndRequest, ReleaseRequest, Renewal};
use crate::key::{LockKey, LockSet, RecordNames};
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule};

/// A wire to a server that never answers.
struct SilentWire;

impl Wire for SilentWire {
    async fn acquire(
        &self,
        _: &mut Owner,
        _: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        pending().await
    }

    async fn renew(&self, _: &[Renewal]) -> Vec<Result<Answered<Option<Grant>>, WireError>> {
        pending().await
    }

    async fn release(&self, _: &mut Owner, _: ReleaseRequest) -> Result<EndReply, WireError> {
        pending().await
    }

    async fn end(&self, _: &mut Owner, _: EndRequest<'_>) -> Result<Answered<EndReply>, WireError> {
        pending().await
    }

    fn read_messages(&self) {}

    fn keep_reading_messages(&self) {}

    async fn ping(&self) -> Result<(), WireError> {
        pending().await
    }
}

/// The holder hands its lease over at the moment at which the next caller is dropped. That caller was
/// made the head, so it cannot leave the queue any more, and it never reads the reply.
#[test]
fn lease_handed_to_a_caller_that_has_just_gone_is_released() {
    let client = open(&Options::default(), Clock::Boot, |_, _| SilentWire).unwrap();
    let key = LockKey::from("key".to_owned());
    let names = RecordNames::new("lock:", &key).unwrap();
    let terms = LeaseTerms {
        ttl: Duration::from_secs(3600),
        renew: true,
        max_hold: None,
        retain: Duration::ZERO,
    };
    let granted_at = client.now();
    let schedule = RenewalSchedule::granted(granted_at, &terms);
    let owner = client
        .new_owner(&Arc::default(), &names, Mode::Exclusive)
        .unwrap();
    let token = FencingToken::new(1600);
    let lease = Arc::new(Lease::new(
        key.clone(),
        owner.id(),
        token,
        terms,
        ("", "key"),
        Clock::Boot,
        &schedule,
    ));
    assert!(client.queues().head(&names.lock).is_none());
    let mut entry = LeaseEntry::new(lease.clone(), owner, schedule, granted_at);
    entry.heads_queue = true;
    client.registry().insert(entry);
    let request = Request {
        locks: LockSet::one(key, names),
        mode: Mode::Exclusive,
        terms,
        wait: Duration::from_secs(9),
        label: "".into(),
        function: "",
        template: "key",
    };
    let until = Instant::now() + request.wait;
    let Joined::Waits(position) = join_queue::join(&client, request, until) else {
        panic!("the queue has a head");
    };
    position.vanish();
    assert_eq!(
        local_turns::hand_over(&client, &lease, true),
        Some(ReleaseOutcome::HandedOver)
    );
    assert_eq!(client.registry().leases().count(), 0, "no caller holds it");
}
