//! The connection to one node breaks in mid-command.

use super::split::{Side, split};
use super::*;
use crate::quorum::boot;

rows! {
    E quorum_reply_cut on RedisQuorum::start, walked;
}

/// One node, behind a proxy, loses requests or their answers: acquires, releases and `end`s, and
/// the commands that yield the node and that restore a lost record.
fn quorum_reply_cut(round: &mut QuorumRound<'_>) {
    // The remains of a command that was cut are ended for some seconds.
    let mut sides = vec![acquire_and_release_cut(round)];
    sides.extend(end_cut(round));
    sides.extend(end_cut_at_a_majority(round));
    sides.push(hold_cut(round));
    sides.extend(yield_cut(round));
    for side in sides {
        side.proxies.iter().for_each(Proxy::heal);
    }
}

/// The ways to cut a command. The first does not cut: the node learns the script. Otherwise the cut
/// answer would be the error about an unknown script.
const CUTS: [Cut; 3] = [
    Cut(None),
    Cut(Some(Proxy::cut_next_request)),
    Cut(Some(Proxy::cut_next_reply)),
];

#[derive(Clone, Copy)]
struct Cut(Option<fn(&Proxy, &str)>);

impl Cut {
    /// Runs `work`, during which the next command with this pattern is cut.
    #[track_caller]
    fn during<T>(self, proxy: &Proxy, pattern: &str, work: impl FnOnce() -> T) -> T {
        let before = proxy.cuts();
        if let Some(cut) = self.0 {
            cut(proxy, pattern);
        }
        let done = work();
        let after = before + usize::from(self.0.is_some());
        wait_until("cut", PATIENCE, || proxy.cuts() == after);
        done
    }
}

fn acquire_and_release_cut(round: &mut QuorumRound<'_>) -> Side {
    let (mut side, [node, ..]) = (Side::new(round), roles::<3>(round));
    let (proxy, lock) = (&side.proxies[node], round.lock.k.clone());
    for cut in CUTS {
        let asked = Instant::now();
        cut.during(proxy, &lock, || {
            round.ask(&mut side.worker, LONG, PATIENCE);
            round.granted_next(&side.worker, asked, SOON);
        });
        round.visit(&mut side.worker);
        // Its command is of the same kind, but not the one to cut.
        wait_until("vote of the node", PATIENCE, || {
            lock_at(round, node).is_held_by(&side.worker)
        });
        cut.during(proxy, &lock, || round.release(&mut side.worker));
    }
    side
}

/// An `end` that was cut leaves the last owner on its node until a repeated `end` arrives. Both
/// owners belong to the same process, and the node is free afterwards.
fn is_free(round: &QuorumRound<'_>) {
    for node in 0..round.server.nodes.len() {
        let mut lock = lock_at(round, node);
        wait_until("free node", PATIENCE * 2, || {
            lock.value().is_none() && lock.queue().is_empty()
        });
    }
}

fn end_cut(round: &mut QuorumRound<'_>) -> [Side; 2] {
    let (mut side, [node, ..]) = (Side::new(round), roles::<3>(round));
    let (proxy, lock) = (&side.proxies[node], round.lock.k.clone());
    let mut other = Side::new(round);
    for cut in CUTS {
        is_free(round);
        // On all nodes, or the waiter might take one of them first.
        side.worker = hold(round, side.worker, LONG).0;
        other.worker = round.queued(other.worker, LONG, PATIENCE);
        round.visit(&mut side.worker);
        let released = Instant::now();
        cut.during(proxy, &lock, || round.release(&mut side.worker));
        round.let_in(&mut other.worker, released, SOON);
    }
    [side, other]
}

/// Two of three nodes lose an `end`, or its answer: it is sent again immediately, not after the
/// half second of an unanswered end. One such try of several suffices, since a busy machine may be
/// slow.
fn end_cut_at_a_majority(round: &mut QuorumRound<'_>) -> [Side; 2] {
    const QUICK: Duration = Duration::from_millis(300);
    const TRIES: usize = 10;
    let (mut side, [first, second, _]) = (Side::new(round), roles::<3>(round));
    let mut other = Side::new(round);
    let lock = round.lock.k.clone();
    for cut in CUTS {
        let mut took = Vec::new();
        while took.iter().all(|&took| took > QUICK) {
            assert!(took.len() < TRIES, "not sent again at once: {took:?}");
            is_free(round);
            side.worker = hold(round, side.worker, LONG).0;
            other.worker = round.queued(other.worker, LONG, PATIENCE);
            round.visit(&mut side.worker);
            let released = Instant::now();
            cut.during(&side.proxies[first], &lock, || {
                cut.during(&side.proxies[second], &lock, || {
                    round.release(&mut side.worker);
                    round.granted(&other.worker);
                    took.push(released.elapsed());
                });
            });
            round.finish(&mut other.worker);
        }
    }
    [side, other]
}

fn hold_cut(round: &mut QuorumRound<'_>) -> Side {
    let (mut side, [node, ..]) = (Side::new(round), roles::<3>(round));
    let (proxy, mut lock) = (&side.proxies[node], lock_at(round, node));
    is_free(round);
    let (worker, token) = hold(round, side.worker, LONG);
    side.worker = worker;
    let holder = &mut side.worker;
    let command = format!("{token}\r\n$16\r\n{}", boot(&mut *lock.connection));
    for cut in CUTS {
        let cuts = proxy.cuts();
        cut.during(proxy, &command, || {
            lock.delete_record();
            wait_until("record of the holder", PATIENCE, || {
                let is_restored = holder.ask("renew", PATIENCE) == "ok" && lock.is_held_by(holder);
                // Renewals do not wait for this node: an earlier one may have just restored the
                // record.
                if is_restored && cut.0.is_some() && proxy.cuts() == cuts {
                    lock.delete_record();
                    return false;
                }
                is_restored
            });
        });
    }
    round.finish(holder);
    side
}

fn yield_cut(round: &mut QuorumRound<'_>) -> impl Iterator<Item = Side> {
    let nodes @ [_, yielded, third] = roles(round);
    // New processes: slow answers may have changed the order in which the earlier ones ask.
    let sides = CUTS.map(|cut| {
        let [mut first, mut second] = [Side::new(round), Side::new(round)];
        split(round, [&mut first, &mut second], nodes);
        let record = lock_at(round, yielded).value().expect("it is held");
        let (label, token) = label_and_token(&record);
        let yielding = format!("{label}\r\n$16\r\n{token}\r\n");
        let reached = Instant::now();
        cut.during(&second.proxies[yielded], &yielding, || {
            first.proxies[yielded].heal();
            // Another attempt may be necessary.
            round.granted_next(&first.worker, reached, Duration::from_secs(2));
        });
        round.pass(&mut first.worker, &mut second.worker, SOON);
        for side in [&first, &second] {
            side.proxies[third].heal();
        }
        [first, second]
    });
    sides.into_iter().flatten()
}
