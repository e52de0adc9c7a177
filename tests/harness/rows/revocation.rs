//! An operator takes a lock from its holder.

use super::*;
use lock_runtime::LockError;
use lock_runtime::inspect::{HolderRef, Revocation, Revoked};
use tokio::runtime;

use super::pause::is_lost;
use crate::rounds::hears_of_its_loss;
use crate::scene::patient;

rows! {
    F revoked_while_renewing;
    F revoked_while_inside;
    E revoked_while_handed_off;
    F revoked_twice;
    F revoked_without_fence;
    F revoked_while_paused;
    F revoked_unheard;
    F revoked_readers;
    F revoked_permits;
    F revoked_one_of_two;
}

/// The holder renews its lease again and again.
fn revoked_while_renewing(round: &mut Round<'_>) {
    // A renewal is due three times a second, and more often while it is not answered.
    revoked_in_its_body(round, TTL);
}

/// The holder is inside its body, with a long lease: only the message ends it in time.
fn revoked_while_inside(round: &mut Round<'_>) {
    // Its next renewal is due in minutes.
    revoked_in_its_body(round, Duration::from_secs(600));
}

fn revoked_in_its_body(round: &mut Round<'_>, ttl: Duration) {
    let mut holder = round.worker();
    persist(round, &mut holder, ttl);
    let next = round.waiter(LONG);
    passes_to(round, &next);
    usurped(round, holder, next, PATIENCE);
}

/// The holder hands the lock off at the same moment.
fn revoked_while_handed_off(round: &mut Round<'_>) {
    let (mut holder, mut next) = (round.worker(), round.worker());
    for turn in 0..6 {
        holder = round.hold(holder, LONG);
        next = round.queued(next, LONG, PATIENCE);
        round.visit(&mut holder);
        let seen = token(round).expect("it is held");
        let asked = Instant::now();
        // Both orders occur: a process needs a moment to read its command.
        holder.send("release");
        let pause = Duration::from_micros(round.any_number(turn, 600));
        wait_until("moment", PATIENCE, || asked.elapsed() >= pause);
        let revoked = revoke(round, seen);
        assert!(!matches!(revoked, Revoked::NotHeld(_)), "{revoked:?}");
        let released = holder.line(PATIENCE).expect("an answer");
        let is_first = matches!(revoked, Revoked::Done(_));
        let is_told = is_first && released.starts_with("failed Lost ");
        assert!(released == "ok" || is_told, "{released}");
        round.let_in(&mut next, asked, Duration::ZERO);
    }
}

/// The operator asks twice for the same holder.
fn revoked_twice(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut next = round.waiter(LONG);
    let seen = done(round);
    round.granted(&next);
    round.visit(&mut next);
    let again = revoke(round, seen);
    is_told(&mut holder);
    assert!(
        next.ask("renew", PATIENCE) == "ok",
        "the new holder was affected"
    );
    let Revoked::Changed(state) = again else {
        panic!("the new holder was affected: {again:?}");
    };
    assert_eq!(state.holders.len(), 1);
    round.retire(holder);
    round.finish(&mut next);
    assert!(matches!(revoke(round, seen), Revoked::NotHeld(_)));
}

/// The fence was evicted before.
fn revoked_without_fence(round: &mut Round<'_>) {
    for has_waiter in [true, false] {
        let mut holder = round.holder(LONG);
        let mut next = round.worker();
        if has_waiter {
            round.ask(&mut next, LONG, PATIENCE);
            round.wait_for_queue(1);
        }
        assert_eq!(holder.ask("look", PATIENCE), "looked");
        let fence = round.lock.f.clone();
        assert_eq!(round.lock.command::<i64>(&["DEL", &fence]), 1);
        done(round);
        if !has_waiter {
            round.ask(&mut next, LONG, PATIENCE);
        }
        // Its token is above the former holder's.
        round.granted(&next);
        round.visit(&mut next);
        assert_eq!(holder.ask("write", PATIENCE), "stale");
        is_told(&mut holder);
        round.retire(holder);
        round.release(&mut next);
    }
}

/// The holder is stopped, and cannot learn of the revocation before it resumes.
fn revoked_while_paused(round: &mut Round<'_>) {
    let mut sleeper = round.holder(LONG);
    let mut next = round.waiter(LONG);
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    sleeper.stop();
    passes_to(round, &next);
    round.visit(&mut next);
    sleeper.cont();
    assert_eq!(sleeper.ask("write", PATIENCE), "stale");
    hears_of_its_loss(&mut sleeper, PATIENCE);
    is_lost(&mut sleeper);
    round.replaced(sleeper, next);
}

/// The message to the holder is lost with its connection: it learns of its loss by a renewal.
fn revoked_unheard(round: &mut Round<'_>) {
    let (proxy, holder) = round.behind_a_proxy();
    let mut holder = round.hold(holder, LONG);
    let mut next = round.waiter(LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let end = round.lock.lease_end();
    proxy.replies(Mode::Hold);
    passes_to(round, &next);
    round.visit(&mut next);
    assert_eq!(holder.ask("valid", PATIENCE), "true", "the message came");
    assert_eq!(holder.ask("write", PATIENCE), "stale");
    proxy.kill_connections();
    proxy.heal();
    round.told(&mut holder, end);
    assert!(round.lock.is_held_by(&next), "the new holder was affected");
    round.release(&mut next);
}

/// Two readers hold the lock together, and a writer waits.
fn revoked_readers(round: &mut Round<'_>) {
    together(round, "read", "write");
}

/// Two processes hold both permits, and a third waits for two.
fn revoked_permits(round: &mut Round<'_>) {
    together(round, "permits 2", "permits 2 take 2");
}

fn together(round: &mut Round<'_>, mode: &str, next: &str) {
    let first = round.holder_in(mode, LONG);
    let second = round.sharer_in(mode, LONG);
    let mut next = round.waiter_in(next, LONG);
    let seen = passes_to(round, &next);
    round.visit(&mut next);
    for mut old in [first, second] {
        is_told(&mut old);
        round.retire(old);
    }
    let again = revoke(round, seen);
    assert!(matches!(again, Revoked::Changed(_)), "{again:?}");
    assert_eq!(next.ask("renew", PATIENCE), "ok");
    round.release(&mut next);
}

/// The holder also has another lock together with this one: it loses both.
fn revoked_one_of_two(round: &mut Round<'_>) {
    let name = format!("{}:other", round.key);
    let mut other = RawLock::new(&round.server, &name);
    let mut holder = round.worker();
    round.ask_for(&mut holder, &[&round.key, &name], LONG);
    round.granted(&holder);
    let mut next = round.waiter(LONG);
    let mut of_other = round.worker();
    round.ask_for(&mut of_other, &[&name], LONG);
    wait_until("waiter for the other lock", PATIENCE, || {
        other.queue().len() == 1
    });
    let revoked = Instant::now();
    passes_to(round, &next);
    round.visit(&mut next);
    is_told(&mut holder);
    round.granted_next(&of_other, revoked, Duration::ZERO);
    assert!(round.lock.is_held_by(&next), "the new holder was affected");
    for worker in [&mut next, &mut of_other] {
        assert_eq!(worker.ask("renew", PATIENCE), "ok");
        round.release(worker);
    }
}

/// The token in the lock's record.
fn token(round: &mut Round<'_>) -> Option<u64> {
    let value = round.lock.value()?;
    Some(value[23..39].parse().expect("it is a token"))
}

/// Revokes the lock, and returns the holder's token.
fn done(round: &mut Round<'_>) -> u64 {
    let seen = token(round).expect("it is held");
    let revoked = revoke(round, seen);
    assert!(matches!(revoked, Revoked::Done(_)), "{revoked:?}");
    seen
}

/// Revokes the lock, and the next process gets it immediately. Returns the token of the former
/// holder.
fn passes_to(round: &mut Round<'_>, next: &Worker) -> u64 {
    let revoked = Instant::now();
    let seen = done(round);
    round.granted_next(next, revoked, Duration::ZERO);
    seen
}

/// The operator's command, in a process without locks.
fn revoke(round: &Round<'_>, seen: u64) -> Revoked {
    let seen: HolderRef = seen.to_string().parse().expect("it is a token");
    let revoking = async {
        let client = patient(round.server.url()).build()?;
        // The round must leave nothing on its server.
        let revocation = Revocation::new("ann@ops-1", "stuck import").without_audit();
        client.revoke(&*round.key, seen, revocation).await
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let revoked: Result<Revoked, LockError> =
        runtime.expect("there is a thread").block_on(revoking);
    revoked.expect("the server answers")
}

/// The holder's error names who revoked the lock, and why.
#[track_caller]
fn is_told(holder: &mut Worker) {
    hears_of_its_loss(holder, PATIENCE);
    let lost = holder.ask("release", PATIENCE);
    assert!(
        lost.contains("revoked by ann@ops-1: stuck import"),
        "{lost}"
    );
}
