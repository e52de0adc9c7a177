//! A name that leads to another server: a failover behind a DNS entry or a virtual address.

use super::*;

rows! {
    E name_moves;
    F name_moves_without_lock;
    E name_moves_while_retained;
    F name_moves_before_a_token, of 3;
}

/// So long that no renewal is due in a round: the first one comes after a twelfth of it.
const TTL: Duration = Duration::from_secs(120);

/// The next server has missed a renewal: its lease is shorter than the holder's.
fn name_moves(round: &mut Round<'_>) {
    const REST: Duration = Duration::from_secs(3);
    let (proxy, holder) = round.behind_a_proxy();
    let mut holder = round.hold(holder, TTL);
    let record = round.lock.value().expect("it is held");
    let after = RedisServer::start();
    let mut lock = RawLock::new(&after, &round.key);
    let (k, rest) = (lock.k.clone(), REST.as_millis().to_string());
    lock.command::<()>(&["SET", &k, &record, "PX", &rest]);
    proxy.redirect(after.port());
    proxy.kill_connections();

    let mut next = round.worker_at(&after.url());
    round.ask(&mut next, TTL, PATIENCE);
    stays_out(
        &mut next,
        &mut holder,
        REST + REST / 2,
        "the lease was not restored",
    );
    round.pass(&mut holder, &mut next, SOON);
    // The first server still has the lease.
    round.lock.command::<()>(&["FLUSHALL"]);
    round.retire(holder);
}

/// The next server lacks the lock, and grants it to another worker.
fn granted_by_another_server(round: &mut Round<'_>, proxy: &Proxy) -> (RedisServer, Worker) {
    let after = RedisServer::start();
    let moved = Instant::now();
    proxy.redirect(after.port());
    proxy.kill_connections();
    let mut next = round.worker_at(&after.url());
    round.comes(&mut next, TTL, moved, Duration::ZERO);
    assert_eq!(next.ask("look", PATIENCE), "looked");
    (after, next)
}

/// The next server lacks the lock.
fn name_moves_without_lock(round: &mut Round<'_>) {
    let (proxy, holder) = round.behind_a_proxy();
    let mut holder = round.hold(holder, TTL);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let renewal = Instant::now() + TTL / 12;
    let (_after, mut next) = granted_by_another_server(round, &proxy);
    holder.ask("write", PATIENCE);
    assert_eq!(next.ask("write", PATIENCE), "written");
    round.told(&mut holder, renewal);
    round.release(&mut next);
    round.lock.command::<()>(&["FLUSHALL"]);
    round.retire(holder);
    round.retire(next);
}

/// The next server lacks a lock whose lease is retained: no body runs, so exclusion holds.
fn name_moves_while_retained(round: &mut Round<'_>) {
    let (proxy, mut last) = round.behind_a_proxy();
    let retain = (TTL / 3).as_millis().to_string();
    let answer = last.ask(&round.command("retain", TTL, PATIENCE, &retain), PATIENCE);
    assert!(answer.starts_with("held "), "{answer}");
    let (_after, mut next) = granted_by_another_server(round, &proxy);
    // Its next connection shows the client that the first one is gone.
    assert_eq!(last.ask("cycle elsewhere 1000 20000 1", PATIENCE), "ok");
    round.ask(&mut last, TTL, PATIENCE);
    let early = last.line(Duration::from_millis(500));
    if early.is_some() {
        intrude(&mut last);
    }
    assert_eq!(next.ask("write", PATIENCE), "written");
    assert_eq!(early, None, "the lease was taken without a question");
    let released = round.release(&mut next);
    round.retire(next);
    round.let_in(&mut last, released, SOON);
    // The first server still has the lease.
    round.lock.command::<()>(&["FLUSHALL"]);
}

/// The name leads to another server, which lacks the lock, but the holder's connection stays open: the holder notices
/// nothing, and asks for its token when another process has the lock; or it asked before, and the server, which was
/// frozen, carries the command out only then.
fn name_moves_before_a_token(round: &mut Round<'_>) {
    let proxy = round.proxy();
    let after = RedisServer::start();
    let mut next = round.worker_at(&after.url());
    next.ask("idle", PATIENCE);
    // It waits for its token for as long as its lease lasts.
    let old = round.patient_worker_at(&proxy.url());
    // The question for the time is under way, or the request for the token.
    let mut old = minting::knows_the_script(round, old, round.variant == 2);
    proxy.redirect(after.port());
    match round.variant {
        0 => asks_late(round, &mut old, &mut next),
        _ => {
            proxy.requests(Mode::Hold);
            old.send("mint");
            wait_until("request", PATIENCE, || proxy.has_held(&round.lock.k));
            let token = granted_elsewhere(round, &mut next);
            // For longer than from the first grant to the question.
            assert_eq!(old.line(SOON), None, "the command is on its way");
            proxy.heal();
            gets_a_lower_token(round, &mut old, &mut next, token);
        }
    }
    round.release(&mut next);
    round.retire(next);
}
