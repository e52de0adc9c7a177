//! Locks that stay taken for a minimum after their holders are done.

use super::*;

rows! {
    E killed_before_its_minimum;
    E reserve_cut, walked;
}

/// The minimum hold of these rows: longer than a busy machine stalls a process.
const MINIMUM: Duration = Duration::from_millis(1_500);

/// kill -9 of a holder inside its minimum: the lock is free at the end of its ttl, and the minimum
/// does not count.
fn killed_before_its_minimum(round: &mut Round<'_>) {
    let mut holder = round.holder_in("at-least 3600000", TTL);
    let mut next = round.waiter(TTL);
    holder.kill9();
    let killed = Instant::now();
    round.let_in(&mut next, killed, TTL);
}

/// A holder is done early, and its release or the answer is lost. The lock stays taken until the
/// minimum is over, and is free then.
fn reserve_cut(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let mode = format!("at-least {}", MINIMUM.as_millis());
    for (n, cut) in [Proxy::cut_next_request, Proxy::cut_next_reply]
        .iter()
        .enumerate()
    {
        // The first hold loads the scripts, so that the cut hits the script's answer and not an
        // error about it.
        let mut worker = round.worker_at(&proxy.url());
        worker.ask_mode(&mode);
        worker = round.hold(worker, LONG);
        let held = Instant::now();
        let mut next = round.waiter(LONG);
        round.visit(&mut worker);
        cut(&proxy, &round.lock.k);
        round.release(&mut worker);
        assert_eq!(proxy.cuts(), n + 1, "the fault happened");
        let early = next.line(MINIMUM.saturating_sub(held.elapsed() + Duration::from_millis(200)));
        assert_eq!(early, None, "the minimum was not over");
        round.let_in(&mut next, held + MINIMUM, SOON);
    }
}
