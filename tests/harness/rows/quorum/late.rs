//! Commands that arrive after their sender has given up on them.

use super::split::{Side, split};
use super::*;
use crate::quorum::boot;

rows! {
    E quorum_yield_late on RedisQuorum::start;
    E quorum_call_late on RedisQuorum::start, of 3, walked;
    E quorum_hold_late on RedisQuorum::start, of 2, walked;
}

/// A process yields a node, and the command is held back. Then the process gets the lock after all,
/// with that node, and the command arrives: it names another token, and does nothing.
fn quorum_yield_late(round: &mut QuorumRound<'_>) {
    let nodes @ [_, yielded, third] = roles(round);
    // The node learns the script.
    let [mut first, mut second] = [Side::new(round), Side::new(round)];
    split(round, [&mut first, &mut second], nodes);
    first.proxies[yielded].heal();
    for side in [&mut first, &mut second] {
        round.granted(&side.worker);
        round.finish(&mut side.worker);
        side.proxies[third].heal();
    }

    let [mut first, mut second] = [Side::new(round), Side::new(round)];
    let near = round.proxy_to(&round.server.nodes[yielded]);
    second.proxies[yielded].redirect(near.port());
    split(round, [&mut first, &mut second], nodes);
    let mut lock = lock_at(round, yielded);
    let record = lock.value().expect("it is held");
    let (label, token) = label_and_token(&record);
    near.requests(Mode::Hold);
    first.proxies[yielded].heal();
    let yielding = format!("{label}\r\n$16\r\n{token}\r\n");
    wait_until("command that gives the node away", PATIENCE, || {
        near.has_held(&yielding)
    });
    let mut at_third = lock_at(round, third);
    second.proxies[third].heal();
    wait_until("third node", PATIENCE, || {
        at_third.is_held_by(&second.worker)
    });
    second.proxies[yielded].redirect(round.server.nodes[yielded].port());
    second.proxies[yielded].kill_connections();
    round.granted(&second.worker);
    assert_eq!(second.worker.ask("look", PATIENCE), "looked");

    let mut monitor = round.server.nodes[yielded].monitor();
    near.heal();
    let yielding = format!("{label}\" \"{token}\" \"");
    monitor.wait_for(&yielding);
    let is_left = lock.is_held_by(&second.worker);
    if !is_left {
        round.granted(&first.worker);
        intrude(&mut first.worker);
    }
    assert_eq!(second.worker.ask("write", PATIENCE), "written");
    assert!(is_left, "the node was taken from its holder");
    round.pass(&mut second.worker, &mut first.worker, SOON);
    first.proxies[third].heal();
}

/// A command to one node is held back, and arrives after its sender has released the lock. In turn,
/// it is an acquire while another process has the node, an acquire while the node is free, and a
/// release. It leaves nothing behind.
fn quorum_call_late(round: &mut QuorumRound<'_>) {
    let [node, other] = roles(round);
    let (mut lock, mut next) = (lock_at(round, node), round.worker());
    let (near, ways, holder) = one_behind_two(round, node);
    // The node learns the scripts.
    let (mut holder, _) = hold(round, holder, LONG);
    round.release(&mut holder);
    wait_until("free node", PATIENCE, || lock.value().is_none());

    let (is_acquire, is_free) = (round.variant != 2, round.variant == 1);
    let (mut released, first) = (Instant::now(), Instant::now());
    let record = loop {
        if is_acquire {
            near.requests(Mode::Hold);
            round.ask(&mut holder, LONG, PATIENCE);
            round.granted(&holder);
        } else {
            holder = hold(round, holder, LONG).0;
        }
        round.visit(&mut holder);
        let record = lock_at(round, other).value().expect("it is held");
        let begun = Instant::now();
        if !is_acquire {
            released = begun;
            near.requests(Mode::Hold);
            round.release(&mut holder);
        }
        let is_held = || near.has_held(&record[..22]);
        // An acquire that is not written before the other nodes have granted the lock is never
        // sent, and neither is anything while a busy machine has lost the connection. In these
        // cases, try again.
        wait_until("command to the node", PATIENCE, || {
            is_held() || begun.elapsed() > LEFT
        });
        if is_held() {
            break record;
        }
        assert!(ran_since(first) < PATIENCE, "no command to the node");
        near.requests(Mode::Pass);
        if is_acquire {
            round.release(&mut holder);
        }
        wait_until("free node", PATIENCE, || lock.value().is_none());
    };
    let owner = &record[..22];
    ways[node].redirect(round.server.nodes[node].port());
    ways[node].kill_connections();
    if is_acquire {
        released = Instant::now();
        round.release(&mut holder);
    }
    follows_on(round, &mut lock, &mut next, released, is_free);

    // It ends the owner repeatedly: only the late command must arrive.
    holder.stop();
    let mut monitor = round.server.nodes[node].monitor();
    near.heal();
    monitor.wait_for(owner);
    holder.cont();
    if is_free {
        // Its lease is longer.
        wait_until("free node again", LONG / 2, || lock.value().is_none());
    } else {
        assert!(lock.is_held_by(&next), "the node was taken from its holder");
        assert_eq!(next.ask("write", PATIENCE), "written");
        round.release(&mut next);
    }
    for worker in [&mut holder, &mut next] {
        round.enters(worker, LONG, Instant::now(), SOON);
    }
}

/// The next process has the lock, on this node as well, and is inside; or has left it, and the node
/// is free.
fn follows_on(
    round: &mut QuorumRound<'_>,
    lock: &mut RawLock,
    next: &mut Worker,
    released: Instant,
    is_free: bool,
) {
    round.comes(next, LONG, released, SOON);
    assert_eq!(next.ask("look", PATIENCE), "looked");
    wait_until("next holder on the node", PATIENCE, || {
        lock.is_held_by(next)
    });
    if is_free {
        assert_eq!(next.ask("write", PATIENCE), "written");
        round.release(next);
        wait_until("free node", PATIENCE, || lock.value().is_none());
    }
}

/// A process that reaches this node through two proxies, and the other nodes through one each. The
/// first returned proxy is next to the node, and keeps the bytes that it holds back when the way to
/// it changes.
fn one_behind_two(round: &QuorumRound<'_>, node: usize) -> (Proxy, Vec<Proxy>, Worker) {
    let near = round.proxy_to(&round.server.nodes[node]);
    let ways = round.proxies();
    ways[node].redirect(near.port());
    let worker = round.worker_through(&ways);
    (near, ways, worker)
}

/// The longest time until a client answers a node that lacks its record, unless something is wrong.
const LEFT: Duration = Duration::from_secs(2);

/// A holder restores a record that a node has lost, and the command is held back. It arrives after
/// the holder has released the lock. In turn, another process has the node, which keeps it, and the
/// node is free.
fn quorum_hold_late(round: &mut QuorumRound<'_>) {
    let [node] = roles(round);
    let (mut lock, mut next) = (lock_at(round, node), round.worker());
    let (near, ways, holder) = one_behind_two(round, node);
    let (mut holder, token) = hold(round, holder, LONG);
    // The node learns the script.
    restored(&mut lock, &mut holder);
    let name = lock.k.clone();
    let mut monitor = round.server.nodes[node].monitor();
    let boot = boot(&mut *lock.connection);
    let command = format!("{token}\r\n$16\r\n{boot}");
    // Renewals do not wait for this node: an earlier one may restore the record instead. Then try
    // again.
    let mut begun: Option<Instant> = None;
    wait_until("command that writes it again", PATIENCE, || {
        if near.has_held(&command) || begun.is_some_and(|begun| begun.elapsed() < LEFT) {
            return near.has_held(&command);
        }
        near.requests(Mode::Pass);
        lock.command::<i64>(&["DEL", &name]);
        // Holds the answer to the renewal until the way there is closed.
        near.replies(Mode::Hold);
        assert_eq!(holder.ask("renew", PATIENCE), "ok");
        wait_until("renewal", PATIENCE, || {
            let mut sent = monitor.take().into_iter();
            sent.any(|command| command.name != "DEL" && command.text.contains(&name))
        });
        near.requests(Mode::Hold);
        near.replies(Mode::Pass);
        begun = Some(Instant::now());
        false
    });
    ways[node].redirect(round.server.nodes[node].port());
    ways[node].kill_connections();
    let released = round.finish(&mut holder);

    let is_free = round.variant == 1;
    follows_on(round, &mut lock, &mut next, released, is_free);
    monitor.take();
    near.heal();
    monitor.wait_for(&token);
    if is_free {
        // A minority blocks no process.
        round.enters(&mut next, LONG, Instant::now(), SOON);
    } else {
        assert!(lock.is_held_by(&next), "the node was taken from its holder");
        assert_eq!(next.ask("write", PATIENCE), "written");
        round.release(&mut next);
    }
    // Whatever the late command wrote is ended, or this finds it.
}

/// Deletes the record of a holder on a node, and waits until it is there again.
fn restored(lock: &mut RawLock, holder: &mut Worker) {
    lock.delete_record();
    wait_until("record of the holder", PATIENCE, || {
        holder.ask("renew", PATIENCE) == "ok" && lock.is_held_by(holder)
    });
}
