//! Locks that are taken without a token, by a plain command, and holders that request one later.

use super::*;

rows! {
    E killed_before_its_token;
    E taken_before_the_queue;
    E taken_and_cut, walked;
    E taken_late, walked;
    E taken_twice, walked;
    E queued_before_the_release, walked;
    F token_after_a_loss;
    E token_cut, of 4, walked;
    E token_late, of 2;
}

/// kill -9 between the command that takes the lock and the one that asks for a token.
fn killed_before_its_token(round: &mut Round<'_>) {
    let mut first = round.holder(LONG);
    round.finish(&mut first);
    let mut holder = newcomer(round, TTL);
    holder.kill9();
    let killed = Instant::now();
    let lease = round.lock.lease_end();
    let mut next = round.worker();
    round.comes(&mut next, TTL, killed, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    round.finish(&mut next);
}

/// A holder is killed, and its waiter does not poll for a while: a newcomer gets the lock first,
/// and the waiter after it.
fn taken_before_the_queue(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    let mut newcomer = round.worker();
    newcomer.ask("idle", PATIENCE);
    let mut waiter = round.waiter(LONG);
    waiter.stop();
    holder.kill9();
    round.wait_until_free();
    newcomer = taken(round, newcomer, LONG);
    waiter.cont();
    wait_until("flag", PATIENCE, || {
        let value = round.lock.value();
        value.is_some_and(|value| value.as_bytes()[22] == b'+')
    });
    minted(round, &mut newcomer);
    round.pass(&mut newcomer, &mut waiter, CLAIM);
}

/// The command is carried out but its answer is lost: the script that follows finds the same
/// holder.
fn taken_and_cut(round: &mut Round<'_>) {
    let (proxy, worker) = round.behind_a_proxy();
    // The connection has been tried out.
    let mut worker = taken(round, worker, LONG);
    round.release(&mut worker);
    proxy.cut_next_reply(&round.lock.k);
    let asked = Instant::now();
    let mut worker = taken(round, worker, LONG);
    assert!(ran_since(asked) < LONG, "it waited for its own lease");
    assert_eq!(proxy.cuts(), 1, "the fault happened");
    minted(round, &mut worker);
    round.finish(&mut worker);
}

/// The command arrives after its caller has given up.
fn taken_late(round: &mut Round<'_>) {
    let (proxy, late) = round.behind_a_proxy();
    // Its connection exists.
    let mut late = taken(round, late, LONG);
    round.release(&mut late);
    proxy.requests(Mode::Hold);
    let take = round.command("take", LONG, Duration::from_millis(100), "");
    let answer = late.ask(&take, PATIENCE);
    assert!(answer.starts_with("failed Unavailable "), "{answer}");
    assert!(proxy.has_held("NX"), "the command is on its way");
    proxy.heal();
    let healed = Instant::now();
    let mut next = round.worker();
    round.enters(&mut next, LONG, healed, SOON);
}

/// The command arrives twice. The second one does nothing: its owner has the lock with a token or
/// without one, or the next owner has it.
fn taken_twice(round: &mut Round<'_>) {
    let mut monitor = round.server.monitor();
    let mut holder = newcomer(round, LONG);
    let mut commands = monitor.take().into_iter();
    let sent =
        commands.find(|command| command.name == "SET" && command.text.contains(&round.lock.k));
    let sent = sent.expect("a plain command");
    let again = sent.words();
    does_nothing(round, &again);
    minted(round, &mut holder);
    does_nothing(round, &again);
    let mut next = round.waiter(LONG);
    let released = round.release(&mut holder);
    round.granted_next(&next, released, SOON);
    does_nothing(round, &again);
    round.finish(&mut next);
}

fn does_nothing(round: &mut Round<'_>, command: &[&str]) {
    let before = round.lock.value();
    let _: Option<String> = round.lock.command(command);
    assert_eq!(round.lock.value(), before, "the command did something");
}

/// A waiter sets the flag, and the holder releases before it notices: the lock is handed off.
fn queued_before_the_release(round: &mut Round<'_>) {
    let (proxy, holder) = round.behind_a_proxy();
    let mut next = round.worker();
    next.ask("idle", PATIENCE);
    // The server knows the script, so that the release is a single command.
    let mut holder = taken(round, holder, LONG);
    round.release(&mut holder);
    let mut holder = taken(round, holder, LONG);
    proxy.replies(Mode::Hold);
    let mut next = round.queued(next, LONG, PATIENCE);
    let record = round.lock.value().expect("it is held");
    let mut monitor = round.server.monitor();
    holder.send("release");
    monitor.wait_for(&record[..22]);
    assert!(round.lock.is_held_by(&holder), "it was freed past a waiter");
    proxy.heal();
    let released = Instant::now();
    assert_eq!(holder.line(PATIENCE).as_deref(), Some("ok"));
    round.let_in(&mut next, released, SOON);
}

/// A holder whose lock is gone requests a token: it learns of the loss, without an effect on the
/// next holder.
fn token_after_a_loss(round: &mut Round<'_>) {
    let mut old = newcomer(round, LONG);
    round.lock.delete_record();
    let mut next = newcomer(round, LONG);
    let record = round.lock.value();
    let answer = old.ask("mint", PATIENCE);
    assert!(!answer.starts_with("held "), "a token without the lock");
    assert!(answer.starts_with("failed Lost "), "{answer}");
    assert_eq!(round.lock.value(), record, "the new holder was affected");
    minted(round, &mut next);
    round.visit(&mut next);
    round.lost(&mut old);
    round.finish(&mut next);
}

/// The question for the time, the request for a token, or the answer to either is lost: it is sent again, and the holder
/// has one token.
fn token_cut(round: &mut Round<'_>) {
    let (proxy, worker) = round.behind_a_proxy();
    let mut holder = knows_the_script(round, worker, round.variant > 1);
    match round.variant % 2 {
        0 => proxy.cut_next_request(&round.lock.k),
        _ => proxy.cut_next_reply(&round.lock.k),
    }
    minted(round, &mut holder);
    assert_eq!(proxy.cuts(), 1, "the fault happened");
    round.finish(&mut holder);
}

/// The question for the time, or the request for a token, arrives after its holder has lost the lock to another.
fn token_late(round: &mut Round<'_>) {
    let (proxy, worker) = round.behind_a_proxy();
    let mut old = knows_the_script(round, worker, round.variant == 1);
    round.release(&mut old);
    let mut old = taken(round, old, TTL);
    proxy.requests(Mode::Hold);
    old.send("mint");
    wait_until("request", PATIENCE, || proxy.has_held(&round.lock.k));
    round.wait_until_free();
    let mut next = newcomer(round, LONG);
    let record = round.lock.value();
    proxy.heal();
    let answer = old.line(PATIENCE).expect("an answer");
    assert!(answer.starts_with("failed "), "{answer}");
    round.lost(&mut old);
    assert_eq!(round.lock.value(), record, "the new holder was affected");
    minted(round, &mut next);
    round.finish(&mut next);
}

/// The worker takes the lock without a token, at a server that knows the script for it. The client knows the server's
/// time, or will ask for it first.
pub(super) fn knows_the_script(
    round: &mut Round<'_>,
    worker: Worker,
    and_the_time: bool,
) -> Worker {
    let mut holder = taken(round, worker, LONG);
    if and_the_time {
        minted(round, &mut holder);
        round.release(&mut holder);
        return taken(round, holder, LONG);
    }
    round.release(&mut holder);
    let mut other = newcomer(round, LONG);
    minted(round, &mut other);
    round.finish(&mut other);
    taken(round, holder, LONG)
}

/// A process that takes the lock without a token.
fn newcomer(round: &mut Round<'_>, ttl: Duration) -> Worker {
    let worker = round.worker();
    taken(round, worker, ttl)
}

/// A holder requests its token, which is above all earlier ones.
fn minted(round: &mut Round<'_>, holder: &mut Worker) -> u64 {
    holder.send("mint");
    let token = round.granted(holder);
    let value = round.lock.value().expect("it is held");
    assert_eq!(value[23..39].parse(), Ok(token), "the record has it");
    token
}
