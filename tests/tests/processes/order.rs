//! First come, first served, whichever process it is.

use std::mem::swap;
use std::time::Duration;

use harness::PATIENCE;

use crate::scene::{Scene, acquire, served};

const TTL: Duration = Duration::from_secs(30);

#[test]
fn processes_are_served_in_the_order_of_their_arrival() {
    let mut scene = Scene::new();
    let (mut holder, mut last) = scene.holder(TTL);
    // Each one is in the queue before the next one starts.
    let mut waiters: Vec<_> = (0..6).map(|_| scene.waiter(TTL)).collect();
    // Nobody lets go before it is told to, so whoever is served out of turn blocks this one.
    for waiter in &mut waiters {
        assert_eq!(holder.ask("release", PATIENCE), "ok");
        let token = served(waiter, PATIENCE);
        assert!(token > last, "{token} after {last}");
        last = token;
        swap(&mut holder, waiter);
    }
    assert_eq!(holder.ask("release", PATIENCE), "ok");
    assert_eq!((scene.lock.value(), scene.lock.queue().len()), (None, 0));
}

#[test]
fn a_process_that_comes_back_stands_at_the_end() {
    let mut scene = Scene::new();
    let (mut holder, _) = scene.holder(TTL);
    let mut waiter = scene.waiter(TTL);
    // It asks again as soon as it has let go.
    holder.send("release");
    holder.send(&acquire(TTL));
    assert_eq!(holder.line(PATIENCE).as_deref(), Some("ok"));
    let first = served(&waiter, PATIENCE);
    assert_eq!(waiter.ask("release", PATIENCE), "ok");
    assert!(served(&holder, PATIENCE) > first);
}
