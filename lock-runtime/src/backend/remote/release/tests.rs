use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::task::Context as TaskContext;

use super::*;
use crate::backend::remote::join_queue::{self, Joined};
use crate::backend::remote::open;
use crate::backend::remote::servers::Servers;
use crate::backend::remote::tests::{SilentWire, head_with_the_lock, request};
use crate::background::clock::Clock;
use crate::config::Options;

/// The fate of a release's task.
#[derive(Clone, Copy, Debug)]
enum Fate {
    NeverPolled,
    Dropped,
    Panics,
}

#[test]
fn release_that_is_dropped_or_panics_promotes_the_next_caller_and_ends_the_owner() {
    for fate in [Fate::NeverPolled, Fate::Dropped, Fate::Panics] {
        // A writer's end names no successor.
        for mode in [Mode::Exclusive, Mode::Write] {
            check(fate, mode);
        }
    }
}

fn check(fate: Fate, mode: Mode) {
    let (ends, ended) = mpsc::channel();
    let wire = SilentWire {
        ends: Some(ends),
        panics: matches!(fate, Fate::Panics).into(),
    };
    let client = open(&Options::default(), Clock::Boot, |_, _| {
        Ok(Servers::Silent(wire))
    })
    .unwrap();
    let request = request(Duration::from_secs(60));
    let mut entry = head_with_the_lock(&client, &request);
    entry.owner.mode = mode;
    let holder = entry.owner.id();
    let lock = request.lock().names.lock.clone();
    let until = Instant::now() + request.wait;
    let Joined::Waits(_position) = join_queue::join(&client, request, until) else {
        panic!("the queue has a head");
    };

    let mut task = release_task(&client, Box::new(entry), None);
    let mut noop = TaskContext::from_waker(Waker::noop());
    let mut poll = || task.as_mut().poll(&mut noop).is_pending();
    match fate {
        Fate::NeverPolled => {}
        Fate::Dropped => {
            assert!(poll(), "nothing is answered");
            assert_eq!(ended.recv(), Ok(holder));
        }
        Fate::Panics => {
            catch_unwind(AssertUnwindSafe(poll)).expect_err("the wire panics");
        }
    }
    let waits = || client.queues().peek(&lock).is_some();
    // A task that panics is dropped by the panic, not here.
    if !matches!(fate, Fate::Panics) {
        assert!(waits(), "{fate:?}: the holder is the head");
    }
    drop(task);
    assert!(!waits(), "{fate:?} in {mode:?}: there is a new head");
    let next = ended.recv_timeout(Duration::from_secs(30));
    assert_eq!(next, Ok(holder), "{fate:?} in {mode:?}: it is ended again");
}
