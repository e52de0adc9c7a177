use std::time::Duration;

use super::*;
use crate::backend::engine::holding::{Holding, MAX_LOCAL_TIME};
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::background::clock::Clock;
use crate::config::TURNS;
use crate::key::{Lock, LockKey, OneOrMore, RecordNames};
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::ClientId;
use crate::lease::schedule::{LeaseTerms, MIN_TTL, RenewalSchedule, margin};
use crate::telemetry::CallLabels;

const TTL: Duration = Duration::from_secs(3600);

const EXTENSION: Extension = Extension {
    ttl: TTL,
    extends: true,
};

/// More than there are of anything.
const MANY: usize = usize::MAX;

fn owner_id(number: u16) -> OwnerId {
    let mut random = [0; 11];
    random[..2].copy_from_slice(&number.to_be_bytes());
    OwnerId::from_random(ClientId::from_random([0; 6]), random)
}

/// The token of every grant.
const TOKEN: u64 = 1_700_000_000_000_016;

/// Creates a lease of an hour, granted at `at`.
fn leased(number: u16, at: Moment) -> LeaseEntry {
    let key = LockKey::from(format!("key-{number}"));
    let names = RecordNames::new("lock:", &key).unwrap_or_else(|problem| panic!("{problem}"));
    let terms = LeaseTerms {
        ttl: TTL,
        renew: true,
        max_hold: None,
        retain: Duration::ZERO,
        min_hold_ms: 0,
    };
    let schedule = RenewalSchedule::granted(at, &terms);
    let token = FencingToken::new(TOKEN);
    let request = Request {
        locks: OneOrMore::from(Lock {
            key,
            names: names.clone(),
        }),
        mode: Mode::Exclusive,
        terms,
        wait: TTL,
        fenced: false,
        label: "".into(),
        labels: CallLabels::new("", "key-<n>"),
        run: None,
    };
    let id = owner_id(number);
    let lease = Lease::new(&request, id, Some(token), Clock::Boot, &schedule);
    lease.delivered();
    let owner = RegisteredOwner::ended_before(
        owner_id(number),
        names,
        Mode::Exclusive,
        &GrantNotifier::default(),
    );
    let holding = Holding::granted(at, false, true);
    LeaseEntry::new(Arc::new(lease), owner, schedule, token, holding)
}

fn confirmation(at: Moment, contended: bool) -> Answered<Grant> {
    let token = FencingToken::new(TOKEN);
    Answered {
        at,
        answer: Grant { contended, token },
    }
}

/// Creates the request of the next caller.
fn request(terms: LeaseTerms) -> Request {
    let LeaseEntry { lease, owner, .. } = leased(1, Moment::from_nanos(0));
    Request {
        locks: OneOrMore::from(Lock {
            key: lease.keys.first().clone(),
            names: owner.names.first().clone(),
        }),
        mode: Mode::Exclusive,
        terms,
        wait: TTL,
        fenced: false,
        label: "".into(),
        labels: CallLabels::new("next", "key-<n>"),
        run: None,
    }
}

fn terms(ttl: Duration) -> LeaseTerms {
    LeaseTerms {
        ttl,
        renew: true,
        max_hold: None,
        retain: Duration::ZERO,
        min_hold_ms: 0,
    }
}

fn remove(registry: &mut LeaseRegistry, number: u16) -> Option<Box<LeaseEntry>> {
    let lease = registry
        .entries
        .get(&owner_id(number).acquisition())?
        .lease
        .clone();
    registry.remove(&lease)
}

fn overdue(agenda: &DueWork) -> Vec<(OwnerId, u32)> {
    let overdue = agenda.overdue.iter();
    overdue
        .map(|(lease, count)| (lease.owner_id, *count))
        .collect()
}

fn owner_ids(agenda: &DueWork) -> Vec<OwnerId> {
    agenda
        .renewals
        .iter()
        .map(|renewal| renewal.owner_id)
        .collect()
}

#[test]
fn due_renewals_come_in_order_up_to_the_limit() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut dues: Vec<(Moment, OwnerId)> = Vec::new();
    for number in 0..5 {
        let entry = leased(number, start + Duration::from_millis(u64::from(number)));
        dues.push((entry.schedule.next_due(), owner_id(number)));
        registry.insert(entry);
    }
    dues.sort();
    assert_eq!(registry.due(start, MANY).next, Some(dues[0].0));

    let all = start + TTL / 2;
    let mut found = Vec::new();
    let again = all + TTL / 6;
    for (count, next) in [(2, dues[2].0), (2, dues[4].0), (1, again)] {
        let agenda = registry.due(all, 2);
        assert_eq!((agenda.renewals.len(), agenda.next), (count, Some(next)));
        assert!(agenda.lost.is_empty());
        found.extend(owner_ids(&agenda));
    }
    let in_order: Vec<OwnerId> = dues.iter().map(|&(_, owner_id)| owner_id).collect();
    assert_eq!(found, in_order);
}

#[test]
fn leases_granted_in_a_burst_are_renewed_over_time() {
    const HOLDS: u16 = 10_000;
    const STEPS: u32 = 120;
    const STEP: Duration = Duration::from_secs(10);
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    for number in 0..HOLDS {
        let taken = start + Duration::from_micros(20) * u32::from(number);
        registry.insert(leased(number, taken));
    }
    let mut last = HashMap::default();
    let mut sent = Vec::new();
    for step in 1..=3 * STEPS {
        let now = start + STEP * step;
        let renewals = registry.due(now, MANY).renewals;
        sent.push(renewals.len());
        for Renewal {
            owner_id,
            extension,
            ..
        } in renewals
        {
            let before = last.insert(owner_id, now).unwrap_or(start + STEP);
            assert!(
                now.since(before) <= TTL / 3 + STEP,
                "{:?}",
                now.since(before)
            );
            registry.confirmed(owner_id, extension, confirmation(now, false));
        }
    }
    assert_eq!(last.len(), usize::from(HOLDS));
    let even = usize::from(HOLDS) / STEPS as usize;
    let most = sent.iter().copied().max().unwrap();
    assert!(most <= 3 * even, "{most} at once, {even} if they were even");
    let total: usize = sent.iter().sum();
    assert!(
        total <= usize::from(HOLDS) * 9 / 2,
        "{total} renewals in three thirds of {HOLDS} leases"
    );
}

#[test]
fn renewal_without_an_answer_is_handed_out_again_and_reported() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    let first = start + TTL / 3;
    assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
    let agenda = registry.due(first + TTL / 6, MANY);
    assert_eq!(owner_ids(&agenda), [owner_id(1)]);
    assert_eq!(overdue(&agenda), [(owner_id(1), 1)]);

    let renewed = registry.confirmed(owner_id(1), EXTENSION, confirmation(first, true));
    assert_eq!(renewed.map(|lease| lease.owner_id), Some(owner_id(1)));
    let next = registry.next().unwrap();
    assert!(next > first + TTL / 12 && next <= first + TTL / 3);
    let entry = remove(&mut registry, 1).unwrap();
    assert!(entry.holding.is_contended(), "the answer reported a waiter");
    assert_eq!(entry.lease.deadline(), entry.schedule.deadline());
}

#[test]
fn failed_renewal_is_not_reported_as_late_as_well() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    let first = start + TTL / 3;
    assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
    let (_, failures) = registry.unanswered(owner_id(1), first, 0.5).unwrap();
    assert_eq!(failures, 1);
    let again = registry.due(registry.next().unwrap(), MANY);
    assert_eq!(owner_ids(&again), [owner_id(1)]);
    assert!(again.overdue.is_empty());
}

#[test]
fn renewal_out_of_turn_counts_until_it_is_answered() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    registry.due(start + TTL / 3, MANY);
    for _ in 0..2 {
        registry.renewal(owner_id(1), start + TTL / 3).unwrap();
    }
    registry.unanswered(owner_id(1), start + TTL / 3, 0.5);
    registry.unanswered(owner_id(1), start + TTL / 3, 0.5);
    assert!(remove(&mut registry, 1).unwrap().holding.is_renewing());
}

#[test]
fn renewal_whose_hold_was_released_is_dropped() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    registry.insert(leased(2, start));
    let mut agenda = registry.due(start + TTL / 3, MANY);
    remove(&mut registry, 1).unwrap();
    registry.keep_held(&mut agenda.renewals);
    assert_eq!(owner_ids(&agenda), [owner_id(2)]);
}

#[test]
fn lost_hold_promotes_once_and_is_not_renewed_again() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    assert_eq!(registry.due(start + TTL, MANY).lost, [owner_id(1)]);
    let (lease, queue) = registry.lost(owner_id(1)).unwrap();
    assert_eq!(
        (lease.owner_id, queue.as_deref()),
        (owner_id(1), Some("lock:key-1"))
    );
    assert_eq!(registry.lost(owner_id(1)).unwrap().1, None);
    let late = registry.confirmed(owner_id(1), EXTENSION, confirmation(start + TTL, false));
    assert!(late.is_none());
    assert!(registry.unanswered(owner_id(1), start + TTL, 0.5).is_none());
    assert_eq!(registry.next(), None);
    assert!(
        remove(&mut registry, 1).is_some(),
        "it still has to be released"
    );
}

/// The registry has not declared the lease lost yet, but its holder may have checked the clock.
#[test]
fn confirmation_after_the_deadline_does_not_move_it() {
    // The lease is granted in the first 20 ms of the clock.
    let long_ago = Moment::from_nanos(0);
    let brief = terms(MIN_TTL);
    let mut entry = leased(1, long_ago);
    entry.schedule = RenewalSchedule::granted(long_ago, &brief);
    entry.lease = Arc::new(
        entry
            .lease
            .for_next_turn(&request(brief), None, &entry.schedule),
    );
    let (lease, deadline) = (entry.lease.clone(), entry.schedule.deadline());
    let mut registry = LeaseRegistry::default();
    registry.insert(entry);
    let now = Clock::Boot.now();
    assert!(now > deadline);
    let late = registry.confirmed(owner_id(1), EXTENSION, confirmation(now, false));
    assert!(late.is_none());
    assert_eq!(lease.deadline(), deadline);
    assert_eq!(registry.due(now, MANY).lost, [owner_id(1)]);
}

#[test]
fn lease_ended_elsewhere_is_found_lost_when_it_is_due() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let entry = leased(1, start);
    entry.lease.lose(crate::lease::LossReason::Shutdown);
    registry.insert(entry);
    let agenda = registry.due(start + TTL / 3, MANY);
    assert_eq!(
        (owner_ids(&agenda), agenda.lost),
        (vec![], vec![owner_id(1)])
    );
}

#[test]
fn lease_confirmed_on_a_closed_connection_is_confirmed_again_once() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    for number in 0..5 {
        registry.insert(leased(number, start));
    }
    registry.lost(owner_id(0)).unwrap();
    // Before any regular renewal is due.
    let now = start + TTL / 20;
    registry.doubt(now, &|_| true);
    let mut found = Vec::new();
    while found.len() < 4 {
        let agenda = registry.due(now, 3);
        assert!(!agenda.renewals.is_empty());
        assert!(agenda.renewals.iter().all(|it| it.extension == EXTENSION));
        found.extend(owner_ids(&agenda));
        // A connection exists now, and the request in flight is not repeated.
        registry.connected();
    }
    found.sort();
    assert_eq!(found, [1, 2, 3, 4].map(owner_id));
    let agenda = registry.due(now, MANY);
    assert!(owner_ids(&agenda).is_empty());
    assert!(agenda.next.unwrap() > now);

    for number in 1..4 {
        registry.confirmed(owner_id(number), EXTENSION, confirmation(now, false));
    }
    assert!(
        registry.unanswered(owner_id(4), now, 0.5).is_none(),
        "no news"
    );
    registry.connected();
    assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(4)]);
    // The same without a new connection. The delay is reported once a regular renewal would have been due.
    assert!(registry.unanswered(owner_id(4), now, 0.5).is_none());
    let soon = registry.due(now, MANY).next.unwrap();
    assert!(soon > now && soon < now + TTL / 20);
    let late = start + TTL / 3;
    assert_eq!(owner_ids(&registry.due(late, 1)).len(), 1);
    assert!(registry.unanswered(owner_id(4), late, 0.5).is_some());
}

#[test]
fn answer_from_a_closed_connection_confirms_no_lease() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let (sent, broke) = (start + TTL / 10, start + TTL / 9);
    registry.insert(leased(1, start));
    registry.doubt(broke, &|_| true);
    assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(1)]);
    // This answer to a renewal was read before the connection broke.
    registry.confirmed(owner_id(1), EXTENSION, confirmation(sent, false));
    assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(1)]);
    registry.confirmed(owner_id(1), EXTENSION, confirmation(broke, false));
    assert!(owner_ids(&registry.due(broke, MANY)).is_empty());
    // This grant was answered before, but is registered only now.
    registry.insert(leased(2, sent));
    registry.insert(leased(3, broke));
    assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(2)]);
}

#[test]
fn number_of_confirmations_in_flight_is_bounded() {
    const HOLDS: u16 = MAX_CONFIRMATIONS as u16 + 100;
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    for number in 0..HOLDS {
        registry.insert(leased(number, start));
    }
    let now = start + TTL / 20;
    registry.doubt(now, &|_| true);
    let first = registry.due(now, MANY);
    assert_eq!(first.renewals.len(), MAX_CONFIRMATIONS);
    assert!(first.next.unwrap() > now && !registry.may_confirm());
    let [one, two, three, ..] = owner_ids(&first)[..] else {
        panic!("more are due")
    };
    registry.confirmed(one, EXTENSION, confirmation(now, false));
    registry.unanswered(two, now, 0.5);
    let lease = registry.entries[&three.acquisition()].lease.clone();
    registry.remove(&lease).unwrap();
    assert!(registry.may_confirm());
    assert_eq!(registry.due(now, MANY).renewals.len(), 3);
}

#[test]
fn lease_without_renewal_is_confirmed_for_its_remaining_time() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(1, start);
    let terms = LeaseTerms {
        renew: false,
        ..terms(TTL)
    };
    entry.schedule = RenewalSchedule::granted(start, &terms);
    let deadline = entry.schedule.deadline();
    registry.insert(entry);
    let now = start + TTL / 2;
    registry.doubt(now, &|_| true);
    let agenda = registry.due(now, MANY);
    let [renewal] = &agenda.renewals[..] else {
        panic!("one is due")
    };
    let Extension { ttl, extends } = renewal.extension;
    assert!(!extends);
    // Like any lease, it ends later on the server, by the margin of the remaining time.
    let counted = now + ttl.saturating_sub(margin(ttl));
    assert!(counted >= deadline && counted < deadline + Duration::from_millis(2));
    assert!(registry.unanswered(owner_id(1), now, 0.5).is_none());
    let again = registry.next().unwrap();
    assert!(again < now + TTL / 20, "it is asked for again");
    assert_eq!(owner_ids(&registry.due(again, MANY)), [owner_id(1)]);
    let sent = again + TTL / 100;
    let renewed = registry.confirmed(owner_id(1), renewal.extension, confirmation(sent, false));
    assert_eq!(renewed.unwrap().deadline(), deadline);
    assert_eq!(registry.next(), Some(deadline), "it is not renewed");
}

#[test]
fn undelivered_lease_is_not_renewed_but_confirmed_at_its_delivery() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(1, start);
    let request = request(terms(TTL));
    entry.lease = Arc::new(entry.lease.for_next_turn(&request, None, &entry.schedule));
    let lease = entry.lease.clone();
    registry.insert(entry);
    let first = start + TTL / 3;
    assert!(owner_ids(&registry.due(first, MANY)).is_empty());
    let second = registry.next().unwrap();
    assert!(second > first && second <= first + TTL / 6);
    assert!(!lease.is_doubted());
    registry.doubt(first, &|_| true);
    assert!(owner_ids(&registry.due(first, MANY)).is_empty());
    assert!(lease.is_doubted());
    lease.delivered();
    registry.confirm_soon(&lease);
    assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
}

#[test]
fn turn_in_doubt_is_confirmed_by_the_next_turn() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    let lease = registry.entries().next().unwrap().lease.clone();
    let now = start + TTL / 10;
    registry.doubt(now, &|_| true);
    assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(1)]);
    let next = registry.hand_over(&lease, &request(terms(TTL)), TURNS, now);
    let next = next.expect("the caller may have it");
    assert!(next.is_doubted());
    next.delivered();
    registry.confirm_soon(&next);
    assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(1)]);
    assert_eq!(registry.confirming, 1);
}

#[test]
fn undelivered_lease_is_lost_when_it_ends() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(1, start);
    let request = request(terms(TTL));
    entry.lease = Arc::new(entry.lease.for_next_turn(&request, None, &entry.schedule));
    registry.insert(entry);
    let mut agenda = DueWork::default();
    while agenda.lost.is_empty() {
        let next = registry.next().expect("the lease has due work");
        agenda = registry.due(next, MANY);
        assert!(agenda.renewals.is_empty());
    }
    assert_eq!(agenda.lost, [owner_id(1)]);
}

#[test]
fn released_lease_is_not_due() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    remove(&mut registry, 1).unwrap();
    assert_eq!(registry.next(), None);
    assert!(remove(&mut registry, 1).is_none());
}

#[test]
fn lease_is_handed_over_unchanged_with_a_token_of_its_own() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    let due = registry.next();
    let mut lease = registry.entries().next().unwrap().lease.clone();
    let first = lease.clone();
    for handoff in 1..TURNS {
        let next = registry.hand_over(&lease, &request(terms(TTL)), TURNS, start);
        let next = next.expect("the caller may have it");
        assert_eq!(next.owner_id, first.owner_id);
        assert_eq!(
            next.known_token().map(FencingToken::get),
            Some(TOKEN + u64::from(handoff))
        );
        assert_eq!(next.deadline(), first.deadline());
        assert_eq!(next.trace.labels.function, "next");
        assert!(registry.remove(&lease).is_none(), "its lease was passed on");
        lease = next;
    }
    let beyond = registry.hand_over(&lease, &request(terms(TTL)), TURNS, start);
    assert!(beyond.is_none(), "the grant has no tokens left");
    assert_eq!(registry.next(), due);
    assert!(registry.remove(&lease).is_some());
}

#[test]
fn turns_of_a_grant_without_a_token_get_tokens_that_are_minted_later() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(1, start);
    entry.number = FencingToken::absent(1_700_000_000_000_000);
    entry.lease = Arc::new(
        entry
            .lease
            .for_next_turn(&request(terms(TTL)), None, &entry.schedule),
    );
    let first = entry.lease.clone();
    registry.insert(entry);
    let next = registry.hand_over(&first, &request(terms(TTL)), TURNS, start);
    let second = next.unwrap();
    assert_eq!((first.known_token(), second.known_token()), (None, None));
    assert_eq!(
        registry.grant(&second).map(|(_, at)| at),
        Some(start),
        "a turn does not change when the lock was granted"
    );
    let minted = Answered {
        at: start,
        answer: FencingToken::new(TOKEN),
    };
    assert_eq!(registry.minted(&first, minted), None, "its turn is over");
    // Every caller that asks gets the same token, so each turn adds its number.
    let token = registry.minted(&second, minted);
    assert_eq!(token.map(FencingToken::get), Some(TOKEN + 1));
    let next = registry.hand_over(&second, &request(terms(TTL)), TURNS, start);
    let third = next.unwrap().known_token();
    assert_eq!(third.map(FencingToken::get), Some(TOKEN + 2));
}

#[test]
fn token_that_a_replaced_server_has_minted_does_not_count() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(1, start);
    entry.number = FencingToken::absent(1_700_000_000_000_000);
    let lease = entry.lease.clone();
    registry.insert(entry);
    let minted = |at| Answered {
        at,
        answer: FencingToken::new(TOKEN),
    };
    let broke = start + TTL / 10;
    registry.doubt(broke, &|_| true);
    assert_eq!(registry.minted(&lease, minted(start)), None);
    let token = registry.minted(&lease, minted(broke));
    assert_eq!(token.map(FencingToken::get), Some(TOKEN));
}

#[test]
fn renewal_of_one_turn_extends_the_next_turn() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    registry.insert(leased(1, start));
    let lease = registry.entries().next().unwrap().lease.clone();
    let asked = registry.due(start + TTL / 3, MANY);
    assert_eq!(owner_ids(&asked), [owner_id(1)]);
    let next = registry.hand_over(&lease, &request(terms(TTL)), TURNS, start);
    let next = next.unwrap();
    let sent = start + TTL / 3;
    let renewed = registry.confirmed(owner_id(1), EXTENSION, confirmation(sent, false));
    assert!(Arc::ptr_eq(&renewed.unwrap(), &next));
    assert!(next.deadline() > lease.deadline());
    // The server identifies the holder by the token of the grant, whatever the turn.
    assert_eq!(next.known_token().map(FencingToken::get), Some(TOKEN + 1));
}

#[test]
fn lease_is_handed_over_only_to_a_caller_that_could_be_granted_it() {
    let start = Clock::Boot.now();
    let passes = |change: fn(&mut LeaseEntry), terms: LeaseTerms, after: Duration| {
        let mut registry = LeaseRegistry::default();
        let mut entry = leased(1, start);
        change(&mut entry);
        let lease = entry.lease.clone();
        registry.insert(entry);
        let next = registry.hand_over(&lease, &request(terms), TURNS, start + after);
        next.is_some()
    };
    let as_it_is: fn(&mut LeaseEntry) = |_| {};
    let contended: fn(&mut LeaseEntry) = |entry| entry.holding.note_contended(true);
    let lost: fn(&mut LeaseEntry) = |entry| {
        entry.lease.lose(crate::lease::LossReason::NotOurs);
    };
    let soon = Duration::from_millis(999);
    assert!(passes(as_it_is, terms(TTL), TTL / 4));
    assert!(!passes(as_it_is, terms(TTL), TTL / 3), "too little is left");
    assert!(!passes(as_it_is, terms(TTL / 2), soon), "another ttl");
    let held_for_less = LeaseTerms {
        max_hold: Some(TTL / 2),
        ..terms(TTL)
    };
    assert!(!passes(as_it_is, held_for_less, soon), "another first ttl");
    assert!(passes(contended, terms(TTL), soon));
    assert!(
        !passes(contended, terms(TTL), MAX_LOCAL_TIME),
        "others have waited"
    );
    assert!(!passes(lost, terms(TTL), soon), "it is lost");
}

/// Creates a lease whose body has ended, and which is retained for `RETAIN`.
fn retaining(number: u16, at: Moment) -> (LeaseRegistry, Arc<Lease>) {
    let mut registry = LeaseRegistry::default();
    let mut entry = leased(number, at);
    let terms = LeaseTerms {
        retain: RETAIN,
        min_hold_ms: 0,
        ..entry.lease.terms
    };
    let key = entry.lease.keys.first().clone();
    let request = Request {
        locks: OneOrMore::from(Lock {
            key,
            names: entry.owner.names.first().clone(),
        }),
        ..request(terms)
    };
    let (id, token) = (entry.lease.owner_id, entry.lease.known_token());
    let lease = Lease::new(&request, id, token, Clock::Boot, &entry.schedule);
    lease.delivered();
    entry.lease = Arc::new(lease);
    let lease = entry.lease.clone();
    registry.insert(entry);
    (registry, lease)
}

const RETAIN: Duration = Duration::from_secs(60);

#[test]
fn retained_lease_is_the_next_callers_until_its_time_is_over() {
    let start = Clock::Boot.now();
    let resume = |at: Duration, terms, turns| {
        let (mut registry, lease) = retaining(1, start);
        assert!(registry.retain(&lease, TURNS, start));
        assert_eq!(registry.next(), Some(start + RETAIN));
        assert!(registry.due(start + RETAIN, MANY).renewals.is_empty());
        let next = registry.resume(&request(terms), turns, start + at)?;
        assert_eq!(
            (next.owner_id, next.known_token().map(FencingToken::get)),
            (lease.owner_id, Some(TOKEN + 1))
        );
        assert!(
            registry
                .resume(&request(terms), turns, start + at)
                .is_none()
        );
        assert!(
            registry.remove(&lease).is_none(),
            "it belongs to the next caller"
        );
        registry.remove(&next)
    };
    let last = RETAIN - Duration::from_nanos(1);
    assert!(resume(Duration::ZERO, terms(TTL), TURNS).is_some());
    assert!(resume(last, terms(TTL), TURNS).is_some());
    assert!(
        resume(RETAIN, terms(TTL), TURNS).is_none(),
        "its time is over"
    );
    assert!(resume(last, terms(TTL / 2), TURNS).is_none(), "another ttl");
    assert!(
        resume(last, terms(TTL), 1).is_none(),
        "it has no token left"
    );
}

#[test]
fn contended_or_doubtful_lease_is_not_retained() {
    let start = Clock::Boot.now();
    let retains = |change: fn(&mut LeaseEntry), at: Duration| {
        let (mut registry, lease) = retaining(1, start);
        change(registry.entry(&lease).expect("the lease is held"));
        registry.retain(&lease, TURNS, start + at)
    };
    let as_it_is: fn(&mut LeaseEntry) = |_| {};
    assert!(retains(as_it_is, TTL / 4));
    assert!(!retains(as_it_is, TTL / 3), "too little is left of it");
    let refused: [fn(&mut LeaseEntry); 6] = [
        |entry| entry.holding.note_contended(true),
        |entry| {
            for _ in 1..TURNS {
                entry.holding.handed_over();
            }
        },
        |entry| entry.holding.renews_out_of_turn(),
        |entry| entry.holding.doubted(),
        |entry| {
            entry.holding.doubted();
            entry.holding.renews();
        },
        |entry| {
            entry.lease.lose(crate::lease::LossReason::NotOurs);
        },
    ];
    for change in refused {
        assert!(!retains(change, Duration::ZERO));
    }
    let (mut registry, lease) = retaining(1, start);
    assert!(registry.retained.close().is_empty());
    assert!(!registry.retain(&lease, TURNS, start), "the client ends");
}

#[test]
fn notified_holder_does_not_retain_its_lease() {
    let start = Clock::Boot.now();
    let notifier = GrantNotifier::default();
    let (mut registry, lease) = retaining(1, start);
    let owner = &mut registry.entry(&lease).expect("the lease is held").owner;
    *owner = RegisteredOwner::ended_before(
        owner_id(1),
        owner.names.first().clone(),
        Mode::Exclusive,
        &notifier,
    );
    assert!(notifier.notify(owner_id(1)));
    assert!(!registry.retain(&lease, TURNS, start));
}

/// The next caller needs two thirds of the ttl.
#[test]
fn lease_is_retained_while_a_caller_could_use_it() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    let late = lease.deadline().since(start) - TTL * 2 / 3 - RETAIN / 2;
    assert!(registry.retain(&lease, TURNS, start + late));
    assert_eq!(registry.next(), Some(start + late + RETAIN / 2));
}

#[test]
fn each_retained_lease_is_released_once() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    assert!(registry.retain(&lease, TURNS, start));
    assert!(registry.retained.remove_owner(owner_id(2)).is_none());
    let early = start + (RETAIN - Duration::from_nanos(1));
    assert!(registry.retained.remove_expired(early).is_empty());
    let expired = registry.retained.remove_expired(start + RETAIN);
    assert_eq!(expired.len(), 1);
    assert!(expired[0].holding.heads_queue());
    assert!(registry.retained.remove_owner(owner_id(1)).is_none());
    assert_eq!(registry.next(), None);
}

#[test]
fn retained_lease_ends_with_its_connection() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    assert!(registry.retain(&lease, TURNS, start));
    registry.doubt(start, &|_| true);
    assert!(
        registry
            .resume(&request(terms(TTL)), TURNS, start)
            .is_none()
    );
    assert!(registry.plan_earlier());
    assert_eq!(registry.retained.remove_expired(start).len(), 1);
}

/// The same after the renewal has failed: the server may no longer have the lease.
#[test]
fn lease_whose_renewal_is_not_answered_is_not_retained() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    let due = registry.next().expect("a renewal is due");
    let [renewal] = &registry.due(due, MANY).renewals[..] else {
        panic!("a renewal is due");
    };
    let extension = renewal.extension;
    assert!(!registry.retain(&lease, TURNS, due), "it is in flight");
    assert!(registry.unanswered(owner_id(1), due, 0.5).is_some());
    assert!(!registry.retain(&lease, TURNS, due), "it was not answered");
    registry.confirmed(owner_id(1), extension, confirmation(due, false));
    assert!(registry.retain(&lease, TURNS, due));
}

/// Until the next connection has confirmed the lease, it is unknown whether it is held.
#[test]
fn lease_in_doubt_is_retained_once_it_is_confirmed() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    let broke = start + TTL / 100;
    registry.doubt(broke, &|_| true);
    assert!(
        !registry.retain(&lease, TURNS, broke),
        "it must be confirmed"
    );
    let [renewal] = &registry.due(broke, MANY).renewals[..] else {
        panic!("a confirmation is due");
    };
    let extension = renewal.extension;
    assert!(!registry.retain(&lease, TURNS, broke), "that is asked for");
    registry.confirmed(owner_id(1), extension, confirmation(start, false));
    assert!(
        !registry.retain(&lease, TURNS, broke),
        "the last server reported it"
    );
    registry.confirmed(owner_id(1), extension, confirmation(broke, false));
    assert!(registry.retain(&lease, TURNS, broke));
    // The lease was confirmed meanwhile, so the next caller need not confirm it.
    let next = registry.resume(&request(terms(TTL)), TURNS, broke);
    assert!(!next.expect("the caller may have it").is_doubted());
}

#[test]
fn lease_granted_before_the_connection_broke_is_not_retained() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    let entry = registry.remove(&lease).expect("the lease is held");
    registry.doubt(start + TTL / 100, &|_| true);
    registry.insert(*entry);
    assert!(!registry.retain(&lease, TURNS, start + TTL / 100));
}

/// The answer is for a renewal of the last caller, which has ended.
#[test]
fn retained_lease_that_is_not_ours_is_ended() {
    let start = Clock::Boot.now();
    let (mut registry, lease) = retaining(1, start);
    assert!(registry.retain(&lease, TURNS, start));
    assert!(registry.lost(owner_id(1)).is_none(), "it has no holder");
    assert!(registry.retained.remove_owner(owner_id(1)).is_some());
    assert!(
        registry
            .resume(&request(terms(TTL)), TURNS, start)
            .is_none()
    );
    assert_eq!(registry.next(), None);
}

#[test]
fn watchdog_that_wakes_in_time_is_not_woken() {
    let start = Clock::Boot.now();
    let mut registry = LeaseRegistry::default();
    assert!(!registry.plan_earlier());
    registry.insert(leased(1, start));
    assert!(registry.plan_earlier());
    assert!(!registry.plan_earlier(), "it was reported");
    registry.insert(leased(2, start + TTL));
    assert!(!registry.plan_earlier());
    registry.plan(Some(start + TTL / 3 + TTL));
    assert!(registry.plan_earlier());
    remove(&mut registry, 1).unwrap();
    remove(&mut registry, 2).unwrap();
    registry.plan(None);
    assert!(!registry.plan_earlier());
}
