//! Random moments, anywhere between the first byte and the return: thousands of them in the long form.

use std::sync::Arc;
use std::time::Duration;

use harness::{Form, LONG, ms};

use super::asking::Asking;
use super::case::Case;
use super::moment::Moment;
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

/// Acquisitions that run at the same time.
const TOGETHER: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_random_moments() {
    let seed = harness::seed();
    let mut dice = Dice(seed);
    let world = Arc::new(World::new().await);
    let (mut played, mut cut) = (Vec::new(), Vec::new());
    for case in CASES {
        // Hundreds of acquisitions at once take about this time, if nobody is in the way.
        let mut span = if case.ends() { ms(5) } else { ms(100) };
        let (mut keys, mut dropped, mut ended) = (Vec::new(), Vec::new(), 0);
        let mut rounds: usize = Form::of_this_run().pick(2, 15);
        // Until some moments were too late, however slow the machine is.
        while rounds > 0 || (case.ends() && ended == 0) {
            rounds = rounds.saturating_sub(1);
            let before = ended;
            // By a plain command, and by the script.
            let asking = if rounds.is_multiple_of(2) {
                Asking::Fenced
            } else {
                Asking::Plain
            };
            let moments = (0..TOGETHER).map(|_| Moment::After(dice.below(span)));
            for (key, outcome) in case.play_all(asking, &world, moments).await {
                keys.push(key.clone());
                match outcome.time() {
                    None => dropped.push((asking, key)),
                    Some(_) => ended += 1,
                }
            }
            if case.ends() {
                span = adapted(span, ended - before);
                assert!(span < LONG, "{case}: no acquisition ends");
            }
        }
        let drops = dropped.len();
        println!("{case} {drops:>5} drops within {span:.0?}, {ended:>5} too late");
        assert!(drops > 0, "{case}: all were too late");
        assert!(ended == 0 || case.ends(), "{case}: it is held");
        // Nobody else was granted the lock of these, and their fences tell which were.
        if matches!(case, Case::Free | Case::Cut) {
            let fenced = dropped
                .into_iter()
                .filter(|(asking, _)| *asking == Asking::Fenced);
            cut.extend(fenced.map(|(_, key)| key));
        }
        played.push((case, keys));
    }
    println!("settled after {:.0?}", world.settles().await);
    // The drops fall on both sides of the grant.
    let (drops, granted) = (cut.len(), world.granted(&cut).await);
    println!("{granted} of {drops} drops after the grant");
    assert!(0 < granted && granted < drops, "{granted} of {drops}");
    for (case, keys) in played {
        world.has_working_queues(case.client(&world), &keys).await;
    }
}

/// Adapts the range of the moments to the speed of the machine, by the number of those that were too late.
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
