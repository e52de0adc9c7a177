//! Processes that hold several locks at once.

use std::time::Duration;

use harness::{PATIENCE, RawLock, wait_until};

use crate::scene::{Scene, is_held};

const KEYS: [&str; 3] = ["order:41", "order:42", "order:43"];

fn acquire_all(ttl: Duration) -> String {
    format!(
        "acquire {} {} {}",
        KEYS.join("+"),
        ttl.as_millis(),
        PATIENCE.as_millis()
    )
}

/// The process has the first locks, and waits for the last one.
#[test]
fn locks_of_a_killed_waiter_are_free_at_their_ttl() {
    const TTL: Duration = Duration::from_millis(1_500);
    let mut scene = Scene::new();
    let mut locks = KEYS.map(|key| RawLock::new(&scene.server, key));
    let mut last = scene.worker();
    let ttl = PATIENCE.as_millis();
    is_held(&last.ask(&format!("acquire {} {ttl} {ttl}", KEYS[2]), PATIENCE));
    let mut waiter = scene.worker();
    waiter.send(&acquire_all(TTL));
    wait_until("waiter in the last queue", PATIENCE, || {
        locks[2].queue().len() == 1
    });
    assert!(locks[..2].iter_mut().all(|lock| lock.is_held_by(&waiter)));
    waiter.kill9();
    let mut next = scene.worker();
    next.send(&acquire_all(TTL));
    wait_until("next waiter with the first locks", PATIENCE, || {
        locks[..2].iter_mut().all(|lock| lock.is_held_by(&next))
    });
    assert_eq!(last.ask("release", PATIENCE), "ok");
    is_held(&next.line(PATIENCE).expect("it is served"));
    assert_eq!(next.ask("release", PATIENCE), "ok");
    assert!(scene.lock.value().is_none());
}
