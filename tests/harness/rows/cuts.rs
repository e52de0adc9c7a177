//! A connection that breaks in mid-command: the client does not know whether the command was
//! carried out.

use super::*;

rows! {
    E reply_cut, walked;
    E request_cut, walked;
    E release_cut, walked;
}

/// The acquire is carried out but its answer is lost: the repeated acquire finds the same holder.
fn reply_cut(round: &mut Round<'_>) {
    acquire_cut(round, Proxy::cut_next_reply);
}

/// The acquire never arrives, and is sent again.
fn request_cut(round: &mut Round<'_>) {
    acquire_cut(round, Proxy::cut_next_request);
}

fn acquire_cut(round: &mut Round<'_>, cut: fn(&Proxy, &str)) {
    let (proxy, worker) = round.behind_a_proxy();
    let mut worker = warmed(round, worker);
    cut(&proxy, &round.lock.k);
    let asked = Instant::now();
    round.ask(&mut worker, LONG, PATIENCE);
    // Another holder would have to wait for the end of its own lease.
    round.granted_next(&worker, asked, SOON);
    assert_eq!(proxy.cuts(), 1, "the fault happened");
    let fence = round.lock.fence().expect("a token was minted");
    let value = round.lock.value().expect("it is held");
    assert_eq!(value[23..39], fence, "one acquisition, one token");
    round.finish(&mut worker);
}

/// The release or its answer is lost: the lock was held to the end in both cases.
fn release_cut(round: &mut Round<'_>) {
    let (proxy, worker) = round.behind_a_proxy();
    let mut worker = warmed(round, worker);
    for (n, cut) in [Proxy::cut_next_request, Proxy::cut_next_reply]
        .iter()
        .enumerate()
    {
        worker = round.hold(worker, LONG);
        round.visit(&mut worker);
        cut(&proxy, &round.lock.k);
        round.release(&mut worker);
        assert_eq!(proxy.cuts(), n + 1, "the fault happened");
        // The background continues a release that its caller did not await.
        wait_until("release", Duration::from_secs(1) + SLACK, || {
            round.lock.value().is_none()
        });
    }
}
