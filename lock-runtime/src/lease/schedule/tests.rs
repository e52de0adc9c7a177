use super::*;

const T0: Moment = Moment::from_nanos(1_000_000_000);
const TTL: Duration = Duration::from_secs(10);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn extended(ttl: Duration) -> Extension {
    Extension { ttl, extends: true }
}

fn terms(renew: bool, max_hold: Option<Duration>) -> LeaseTerms {
    LeaseTerms {
        ttl: TTL,
        renew,
        max_hold,
        retain: Duration::ZERO,
        min_hold_ms: 0,
    }
}

#[test]
fn holder_gives_up_one_percent_and_two_milliseconds_early() {
    let schedule = RenewalSchedule::granted(T0, &terms(true, None));
    assert_eq!(schedule.deadline(), T0 + ms(10_000 - 100 - 2));
}

#[test]
fn shortest_ttl_leaves_time_to_work() {
    let schedule = RenewalSchedule::granted(
        T0,
        &LeaseTerms {
            ttl: MIN_TTL,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
            min_hold_ms: 0,
        },
    );
    assert!(schedule.deadline() > T0 + ms(15));
}

#[test]
fn renewal_is_due_by_a_third_and_again_if_it_is_unanswered() {
    let mut schedule = RenewalSchedule::granted(T0, &terms(true, None));
    let due = schedule.next_due();
    assert!(due <= T0 + TTL / 3, "{:?}", due.since(T0));
    assert_eq!(schedule.due(T0), Due::At(due));
    assert_eq!(schedule.due(due), Due::Renew(extended(TTL)));
    let again = due + TTL / 6;
    assert_eq!(schedule.due(due), Due::At(again));
    assert_eq!(schedule.due(again), Due::Renew(extended(TTL)));
    schedule.confirmed(due, TTL);
    let next = schedule.next_due();
    assert!(next > again && next <= due + TTL / 3);
}

#[test]
fn renewal_is_never_later_than_a_third_nor_sooner_than_a_twelfth() {
    for ttl in [MIN_TTL, ms(300), TTL, MAX_TTL] {
        for step in 0..10_000_u32 {
            let sent = T0 + ttl * step / 7;
            let phase = Phase::of(sent + Duration::from_nanos(u64::from(step) * 12_345));
            let after = next_renewal(sent, ttl, phase).since(sent);
            assert!(after <= ttl / 3, "{ttl:?}: {after:?}");
            assert!(after >= ttl / 12, "{ttl:?}: {after:?}");
        }
    }
}

#[test]
fn lease_in_phase_is_not_renewed_more_often() {
    for early in [Duration::ZERO, TICK / 2, TICK] {
        for late in [Duration::ZERO, ms(1), ms(100)] {
            for start in 0..100 {
                let granted = T0 + ms(37 * start);
                let phase = Phase::of(granted);
                let (mut sent, mut renewals) = (granted, 0);
                while sent < granted + TTL * 10 {
                    let due = next_renewal(sent, TTL, phase) + late;
                    sent = Moment::from_nanos(due.as_nanos() - early.as_nanos() as u64);
                    renewals += 1;
                }
                assert!(renewals <= 30 + 2, "{renewals} renewals in 30 thirds");
            }
        }
    }
}

#[test]
fn renewals_of_one_burst_are_spread_over_the_third() {
    let mut bins = [0_u32; 20];
    let third = TTL / 3;
    for number in 0..10_000 {
        let granted = T0 + Duration::from_micros(20) * number;
        let phase = Phase::of(granted);
        let mut sent = granted;
        while sent < T0 + third * 3 {
            sent = next_renewal(sent, TTL, phase);
        }
        let bin = sent.since(T0 + third * 3).as_micros() * 20 / third.as_micros();
        bins[bin as usize] += 1;
    }
    assert!(
        bins.iter().all(|&bin| (400..=600).contains(&bin)),
        "{bins:?}"
    );
}

#[test]
fn lease_without_renewal_has_only_its_deadline() {
    let mut schedule = RenewalSchedule::granted(T0, &terms(false, None));
    assert_eq!(schedule.due(T0 + ms(9_000)), Due::At(schedule.deadline()));
    assert_eq!(schedule.due(schedule.deadline()), Due::Lost);
}

#[test]
fn answer_to_an_older_request_never_shortens_the_lease() {
    let mut schedule = RenewalSchedule::granted(T0, &terms(true, None));
    schedule.confirmed(T0 + ms(5_000), TTL);
    let deadline = schedule.deadline();
    schedule.confirmed(T0 + ms(1_000), TTL);
    assert_eq!(schedule.deadline(), deadline);
}

#[test]
fn unanswered_renewals_are_repeated_soon_and_do_not_move_the_deadline() {
    let mut schedule = RenewalSchedule::granted(T0, &terms(true, None));
    let deadline = schedule.deadline();
    let mut now = T0 + TTL / 3;
    let mut attempts = 0;
    while schedule.due(now) != Due::Lost {
        attempts += 1;
        schedule.unanswered(now, 0.5);
        let Due::At(next) = schedule.due(now) else {
            panic!("due at once")
        };
        assert!(
            next > now && next.since(now) <= ms(500),
            "{:?}",
            next.since(now)
        );
        now = next;
    }
    assert!(attempts > 10, "{attempts} attempts until the deadline");
    assert_eq!(schedule.deadline(), deadline);
}

#[test]
fn failed_renewal_by_the_holder_starts_no_further_renewals() {
    let mut schedule = RenewalSchedule::granted(T0, &terms(false, None));
    schedule.unanswered(T0, 0.5);
    assert_eq!(schedule.due(T0 + ms(9_000)), Due::At(schedule.deadline()));
}

#[test]
fn max_hold_caps_renewals_and_the_deadline() {
    let max = ms(15_000);
    let mut schedule = RenewalSchedule::granted(T0, &terms(true, Some(max)));
    let at = T0 + TTL / 3;
    assert_eq!(schedule.due(at), Due::Renew(extended(TTL)));
    schedule.confirmed(at, TTL);
    assert!(!schedule.ends_by_max_hold());
    let at = T0 + ms(7_000);
    assert_eq!(schedule.due(at), Due::Renew(extended(ms(8_000))));
    schedule.confirmed(at, ms(8_000));
    assert!(schedule.deadline() <= T0 + max);
    assert!(schedule.ends_by_max_hold());
    assert_eq!(
        schedule.due(T0 + ms(14_000)),
        Due::At(schedule.deadline()),
        "no renewal is left"
    );
    assert_eq!(schedule.due(T0 + max), Due::Lost);
}

#[test]
fn max_hold_below_the_ttl_is_the_first_ttl() {
    let schedule = RenewalSchedule::granted(T0, &terms(true, Some(ms(500))));
    assert_eq!(terms(true, Some(ms(500))).first_ttl(), ms(500));
    assert!(schedule.deadline() <= T0 + ms(500));
    assert!(schedule.ends_by_max_hold());
}

#[test]
fn next_holder_keeps_the_deadline_and_the_renewals() {
    let schedule = RenewalSchedule::granted(T0, &terms(true, None));
    let now = T0 + ms(1_000);
    let next = schedule.handed_over(now, &terms(true, None));
    assert_eq!(next.deadline(), schedule.deadline());
    assert_eq!(next.next_due(), schedule.next_due());
    let unrenewed = schedule.handed_over(now, &terms(false, None));
    assert_eq!(unrenewed.next_due(), schedule.deadline());
    // If the previous holder had no renewals, the next holder's lease is renewed when two thirds are left.
    let renewed = unrenewed.handed_over(now, &terms(true, None));
    assert_eq!(renewed.next_due(), T0 + (TTL - margin(TTL) - TTL * 2 / 3));
}

#[test]
fn max_hold_begins_with_the_hand_over_and_ends_no_other_holder() {
    let schedule = RenewalSchedule::granted(T0, &terms(true, None));
    let now = T0 + ms(1_000);
    let short = schedule.handed_over(now, &terms(true, Some(TTL)));
    assert_eq!(short.deadline(), schedule.deadline());
    assert_eq!(short.end(), now + TTL);
    let next = short.handed_over(now + ms(10), &terms(true, None));
    assert_eq!(next.end(), Moment::NEVER);
    assert!(!next.ends_by_max_hold());
}
