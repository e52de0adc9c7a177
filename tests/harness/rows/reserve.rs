//! Locks that stay taken for a minimum although their holders are done.

use super::*;

rows! {
    E killed_before_its_minimum;
    E reserve_cut, walked;
}

/// How long the locks of these rows stay taken: longer than a busy machine stops a process.
const MINIMUM: Duration = Duration::from_millis(1_500);

/// kill -9 of a holder inside its minimum: the crash frees the lock at the ttl, and the minimum does not count.
fn killed_before_its_minimum(round: &mut Round<'_>) {
    let mut holder = round.holder_in("at-least 3600000", TTL);
    let next = round.waiter(TTL);
    holder.kill9();
    let killed = Instant::now();
    round.granted_next(&next, killed, TTL);
    round.finish(next);
}

/// The release of a holder that is done early never arrives, or its answer is lost. The lock stays taken until the
/// minimum is over, and is free then.
fn reserve_cut(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let mode = format!("at-least {}", MINIMUM.as_millis());
    for (n, cut) in [Proxy::cut_next_request, Proxy::cut_next_reply]
        .iter()
        .enumerate()
    {
        // The first hold brings the scripts, so that the script's answer is cut and not an error about it.
        let mut worker = round.worker_at(&proxy.url());
        worker.ask(&format!("mode {mode}"), PATIENCE);
        worker = round.hold(worker, LONG);
        let held = Instant::now();
        let next = round.waiter(LONG);
        round.visit(&mut worker);
        cut(&proxy, &round.lock.k);
        round.release(&mut worker);
        assert_eq!(proxy.cuts(), n + 1, "the fault happened");
        let early = next.line(MINIMUM.saturating_sub(held.elapsed() + Duration::from_millis(200)));
        assert_eq!(early, None, "the minimum was not over");
        round.granted_next(&next, held + MINIMUM, SOON);
        round.finish(next);
    }
}
