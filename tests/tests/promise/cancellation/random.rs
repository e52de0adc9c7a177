//! Thousands of moments, anywhere between the first byte and the return.

use std::env;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use harness::ms;

use super::asking::Asking;
use super::case::Case;
use super::moment::{Alarm, Moment};
use super::world::World;

/// The cases that take time. The others end at their first poll.
const CASES: [Case; 8] = [
    Case::Free,
    Case::Held,
    Case::Granted,
    Case::InLine,
    Case::Named,
    Case::BehindSibling,
    Case::Cut,
    Case::QueuedAndCut,
];

/// Drops of all cases together.
const DROPS: usize = 10_000;

/// Acquisitions that run at the same time.
const TOGETHER: usize = 100;

/// The longest time until an acquisition of a held lock is dropped.
const WHILE: Duration = ms(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_random_moments() {
    let seed = env::var("LOCK_TEST_SEED").map_or_else(
        |_| RandomState::new().hash_one(DROPS),
        |seed| seed.parse().expect("the seed is a number"),
    );
    println!("LOCK_TEST_SEED={seed}");
    let mut dice = Dice(seed);
    let alarm = Arc::new(Alarm::new());
    let world = Arc::new(World::new().await);
    for case in CASES {
        let mut span = span(case, &world).await;
        let (mut keys, mut dropped, mut ended) = (Vec::new(), Vec::new(), 0);
        while dropped.len() < DROPS / CASES.len() || (case.ends() && ended == 0) {
            let moments = (0..TOGETHER).map(|_| Moment::After(dice.below(span), alarm.clone()));
            let before = ended;
            for (key, outcome) in case.play_all(Asking::Plain, &world, moments).await {
                keys.push(key.clone());
                match outcome.time() {
                    None => dropped.push(key),
                    Some(_) => ended += 1,
                }
            }
            if case.ends() {
                span = adapted(span, ended - before);
            }
        }
        let settled = world.settles().await;
        let (drops, granted) = (dropped.len(), world.granted(&dropped));
        world.is_settled(case.client(&world), &keys).await;
        print!("{case} {drops:>5} drops within {span:.0?}, {ended:>5} too late");
        if case.is_first() {
            print!(", {granted:>4} after the grant");
            assert!(0 < granted, "{case}: {granted} of {drops}");
            // The first poll writes the command if there is a connection. Hardly a moment is before it;
            // `polls` covers those.
            assert!(case == Case::Free || granted < drops, "{case}: {drops}");
        }
        println!(", settled after {settled:.0?}");
        assert_eq!(ended > 0, case.ends(), "{case}: {ended} were too late");
    }
}

/// The range of the moments, such that about a quarter of them are too late.
async fn span(case: Case, world: &Arc<World>) -> Duration {
    if !case.ends() {
        return WHILE;
    }
    let undisturbed = std::iter::repeat_n(Moment::Never, TOGETHER);
    let outcomes = case.play_all(Asking::Plain, world, undisturbed).await;
    let mut times: Vec<_> = outcomes
        .iter()
        .filter_map(|(_, outcome)| outcome.time())
        .collect();
    times.sort();
    2 * times[times.len() / 2]
}

/// Adapts the range to the current speed of the machine, by the number of moments that were too late in
/// the last round.
fn adapted(span: Duration, too_late: usize) -> Duration {
    match too_late {
        late if late < TOGETHER / 10 => span * 2,
        late if late > TOGETHER / 2 => span / 2,
        _ => span,
    }
}

/// A reproducible source of random numbers: splitmix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, span: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        span.mul_f64((word >> 11) as f64 / (1_u64 << 53) as f64)
    }
}
