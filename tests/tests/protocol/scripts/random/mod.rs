//! Random sequences of scripts on the fake, with the effects of time and of other programs between them. The server
//! and the model must agree after every step.
//!
//! The server's clock stands still and is stepped, so that a sequence passes leases, claims, heartbeats and days
//! quickly. Some cases take more than fifty steps or another server, and are covered elsewhere: a queue longer than
//! `CAP` or `WALK` (`queue`, `grant`), a refused PUBLISH (`grant`).

mod answer;
pub(super) mod draw;
pub(super) mod model;
pub(super) mod records;
mod several;
pub(super) mod stage;
pub(super) mod step;

use std::cell::RefCell;
use std::fmt::Debug;

use lock_model::server::Branch;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::scripts::transcript::Place;
use harness::{Form, Listener};
use stage::{Locks, OnLocks, Stage};
use step::Step;

/// Listeners of the owners that have one.
pub(crate) type Listeners = Vec<(char, Listener)>;

const STEPS: usize = 50;

/// How many sequences of each kind this run plays.
pub(crate) fn sequences() -> u32 {
    Form::of_this_run().pick(20, 500)
}

/// For branches that are taken once in thousands of steps, up to this many times as many sequences are played.
const AT_MOST: u64 = 20;

#[test]
fn the_scripts_agree_with_the_model() {
    let stage = Stage::on(Place::fake(), Locks::Plain);
    let steps = Step::any(stage.deletes);
    play(stage, steps.prop_map(first), sequences(), Branch::ALL);
}

#[test]
fn scripts_of_shares_agree_with_the_model() {
    let stage = Stage::on(Place::fake(), Locks::Shared);
    let steps = Step::any_of_shares(stage.deletes);
    play(
        stage,
        steps.prop_map(first),
        3 * sequences(),
        Branch::OF_SHARES,
    );
}

/// A step with the only lock.
fn first(step: Step) -> OnLocks {
    OnLocks::One(0, step)
}

/// Plays sequences of such steps, which must take these branches.
fn play(stage: Stage, step: impl Strategy<Value = OnLocks>, sequences: u32, branches: &[Branch]) {
    let stage = RefCell::new(stage);
    explore(
        step,
        sequences,
        |steps| stage.borrow_mut().play(steps),
        || stage.borrow().tally.missing(branches),
    );
    let stage = stage.into_inner();
    print!("{}", stage.tally);
    stage.assert_no_more_messages();
}

/// Generates sequences of such steps, and shrinks one that fails. The long form generates more until nothing is
/// `missing`. The short form plays for about a second.
pub(crate) fn explore<S: Debug + Copy, T: Debug>(
    step: impl Strategy<Value = S>,
    sequences: u32,
    play: impl Fn(&[S]) -> Result<(), String>,
    missing: impl Fn() -> Vec<T>,
) {
    let seed = harness::seed();
    // Every step is played. If a sequence shows a difference, it is repeated without the steps that do not contribute.
    let steps = vec((weighted(1.0), step.no_shrink()), STEPS);
    for round in 0..AT_MOST {
        let outcome = runner(seed.wrapping_add(round), sequences).run(&steps, |steps| {
            play(&played(steps)).map_err(TestCaseError::fail)
        });
        if let Err(TestError::Fail(difference, steps)) = outcome {
            let steps = played(steps);
            let steps: String = steps.iter().map(|step| format!("\n    {step:?}")).collect();
            panic!("{difference}\nafter{steps}");
        }
        outcome.expect("proptest has no reason of its own to give up");
        if Form::of_this_run() == Form::Short || missing().is_empty() {
            return;
        }
    }
    panic!("never taken: {:?}", missing());
}

fn played<S>(steps: Vec<(bool, S)>) -> Vec<S> {
    let steps = steps.into_iter().filter(|(is_played, _)| *is_played);
    steps.map(|(_, step)| step).collect()
}

fn runner(seed: u64, cases: u32) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}
