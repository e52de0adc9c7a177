//! Drops an acquisition after each possible number of polls, until it ends by itself.

use std::sync::Arc;

use harness::Form;

use super::asking::Asking;
use super::case::{Case, Outcome};
use super::moment::Moment;
use super::world::World;

/// Drops after each number of polls.
fn times_each() -> usize {
    Form::of_this_run().pick(4, 8)
}

/// Numbers of polls that are tried at the same time.
const TOGETHER: usize = 16;

/// Enough for an acquisition that does not end: it queues, and is polled again and again.
const ENOUGH: usize = 3 * TOGETHER;

/// More than any acquisition of a free lock needs.
const ENDLESS: usize = 4_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_every_poll() {
    play(Case::ALL.map(|case| (Asking::Plain, case))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_every_poll_in_every_mode() {
    let cases = Case::ALL.into_iter().filter(|case| case.is_of_every_mode());
    let of = |asking| cases.clone().map(move |case| (asking, case));
    play(Asking::MODES.into_iter().flat_map(of)).await;
}

async fn play(cases: impl IntoIterator<Item = (Asking, Case)>) {
    let world = Arc::new(World::new().await);
    let mut played = Vec::new();
    for (asking, case) in cases {
        let keys = drop_at_every_poll(case, asking, &world).await;
        played.push((case, keys));
    }
    world.settles().await;
    for (case, keys) in played {
        world.has_working_queues(case.client(&world), &keys).await;
    }
}

/// Drops acquisitions after each number of polls, until they end first. Returns their keys.
async fn drop_at_every_poll(case: Case, asking: Asking, world: &Arc<World>) -> Vec<String> {
    let (mut keys, mut drops, mut polls) = (Vec::new(), 0, 0);
    let mut note = |outcomes: &[(String, Outcome)]| {
        keys.extend(outcomes.iter().flat_map(|(key, _)| asking.keys(key)));
        drops += dropped(outcomes);
    };
    loop {
        let moments = (polls..polls + TOGETHER).flat_map(|polls| times(Moment::Polls(polls)));
        let outcomes = case.play_all(asking, world, moments).await;
        note(&outcomes);
        polls += TOGETHER;
        let mut last = outcomes[outcomes.len() - times_each()..].iter();
        if case.ends() {
            assert!(polls < ENDLESS, "{case}: it does not end");
            if last.all(|(_, outcome)| *outcome == Outcome::Ended) {
                break;
            }
        } else {
            assert!(
                last.all(|(_, outcome)| *outcome == Outcome::Dropped),
                "{case}: the lock is held"
            );
            if polls >= ENOUGH {
                break;
            }
        }
    }
    if case.is_woken() {
        // A task that was suspended for long may end at its first poll.
        let (mut woken, mut played) = (0, 0);
        while woken < times_each() {
            assert!(played < ENDLESS, "{case}: none is dropped when it is woken");
            let outcomes = case.play_all(asking, world, times(Moment::Woken(1))).await;
            woken += dropped(&outcomes);
            played += times_each();
            note(&outcomes);
        }
    }
    println!("{case} {asking:?} {polls:>4} polls, {drops:>5} drops");
    keys
}

fn dropped(outcomes: &[(String, Outcome)]) -> usize {
    let outcomes = outcomes.iter().map(|(_, outcome)| *outcome);
    outcomes.filter(|it| *it == Outcome::Dropped).count()
}

fn times(moment: Moment) -> impl Iterator<Item = Moment> {
    std::iter::repeat_n(moment, times_each())
}
