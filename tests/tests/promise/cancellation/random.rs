//! Random moments, anywhere between the first byte and the return: thousands of them in the long form.

use std::sync::Arc;
use std::time::Duration;

use harness::{Form, ms};

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
    let mut played = Vec::new();
    for case in CASES {
        // Hundreds of acquisitions at once take about this time, if nobody is in the way.
        let span = if case.ends() { ms(5) } else { ms(100) };
        let (mut keys, mut dropped) = (Vec::new(), 0);
        for _ in 0..Form::of_this_run().pick(2, 15) {
            let moments = (0..TOGETHER).map(|_| Moment::After(dice.below(span)));
            for (key, outcome) in case.play_all(Asking::Plain, &world, moments).await {
                keys.push(key);
                dropped += usize::from(outcome.time().is_none());
            }
        }
        println!("{case} {dropped:>5} drops of {}", keys.len());
        assert!(dropped == keys.len() || case.ends(), "{case}: it is held");
        played.push((case, keys));
    }
    println!("settled after {:.0?}", world.settles().await);
    for (case, keys) in played {
        world.has_working_queues(case.client(&world), &keys).await;
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
