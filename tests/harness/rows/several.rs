//! Several locks that are held together.

use super::*;

rows! {
    E keys_in_opposite_orders;
}

/// Two processes acquire two locks together, in opposite orders. Others hold the locks until both
/// wait, and release the first one first: a caller that gets one of the locks then waits for the
/// other. In every second round, the callers ask for their token after the locks.
fn keys_in_opposite_orders(round: &mut Round<'_>) {
    let name = format!("{}:other", round.key);
    let mut other = RawLock::new(&round.server, &name);
    let mut of_first = round.holder(LONG);
    let mut of_other = round.worker();
    round.ask_for(&mut of_other, &[&name], LONG);
    round.granted(&of_other);

    let [mut first, mut second] = [(); 2].map(|()| round.worker());
    round.ask_for(&mut first, &[&round.key, &name], LONG);
    round.wait_for_queue(1);
    round.ask_for(&mut second, &[&name, &round.key], LONG);
    wait_until("second caller in a queue", PATIENCE, || {
        round.lock.queue().len() + other.queue().len() == 2
    });
    round.finish(&mut of_first);
    wait_until("first caller with the first lock", PATIENCE, || {
        round.lock.is_held_by(&first)
    });
    round.release(&mut of_other);
    for worker in [&mut first, &mut second] {
        let released = Instant::now();
        round.let_in(worker, released, Duration::ZERO);
    }
}
