//! Every poll, one after the other, until the acquisition ends.

use std::sync::Arc;

use super::case::{Case, Outcome};
use super::moment::Moment;
use super::world::World;

/// Drops after each number of polls.
const TIMES: usize = 8;

/// Numbers of polls that are tried at the same time.
const TOGETHER: usize = 16;

/// Enough for an acquisition that does not end: it queues, and polls again and again.
const ENOUGH: usize = 3 * TOGETHER;

/// More than any acquisition of a free lock needs.
const ENDLESS: usize = 4_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_at_every_poll() {
    let world = Arc::new(World::new().await);
    for case in Case::ALL {
        let (mut keys, mut drops, mut polls) = (Vec::new(), 0, 0);
        let mut note = |outcomes: &[(String, Outcome)]| {
            keys.extend(outcomes.iter().map(|(key, _)| key.clone()));
            drops += outcomes
                .iter()
                .filter(|(_, outcome)| outcome.time().is_none())
                .count();
        };
        loop {
            let moments = (polls..polls + TOGETHER).flat_map(|polls| times(Moment::Polls(polls)));
            let outcomes = case.play_all(&world, moments).await;
            note(&outcomes);
            polls += TOGETHER;
            let mut last = outcomes[outcomes.len() - TIMES..].iter();
            if case.ends() {
                assert!(polls < ENDLESS, "{case}: it does not end");
                if last.all(|(_, outcome)| outcome.time().is_some()) {
                    break;
                }
            } else {
                assert!(
                    last.all(|(_, outcome)| outcome.time().is_none()),
                    "{case}: the lock is held"
                );
                if polls >= ENOUGH {
                    break;
                }
            }
        }
        if case.is_woken() {
            // A task that was not run for long may end at its first poll.
            let (mut woken, mut played) = (0, 0);
            while woken < TIMES {
                assert!(played < ENDLESS, "{case}: none is dropped when it is woken");
                let outcomes = case.play_all(&world, times(Moment::Woken(1))).await;
                let dropped = outcomes.iter().filter(|(_, it)| it.time().is_none());
                woken += dropped.count();
                played += TIMES;
                note(&outcomes);
            }
        }
        let settled = world.settles().await;
        world.is_settled(case.client(&world), &keys).await;
        println!("{case} {polls:>4} polls, {drops:>5} drops, settled after {settled:.0?}");
    }
}

fn times(moment: Moment) -> impl Iterator<Item = Moment> {
    std::iter::repeat_n(moment, TIMES)
}
