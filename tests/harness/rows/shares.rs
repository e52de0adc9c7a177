//! Readers and holders of permits that fail, and shares that the server forgets.

use super::pause::{followed, is_lost};
use super::*;

rows! {
    E reader_killed;
    E permit_holder_killed;
    E many_shares_killed;
    E waiting_reader_killed, of 2;
    E waiting_writer_killed;
    E waiting_writer_paused;
    E crowd_killed;
    E crowd_paused;
    F reader_paused;
    E shares_evicted, walked;
    F lock_deleted_under_readers, walked;
}

/// kill -9 of a reader: another one continues past both original leases, and no writer gets in
/// meanwhile. When the other has released, the dead one blocks no writer.
fn reader_killed(round: &mut Round<'_>) {
    let ttl = KEPT;
    let mut dead = round.holder_in("read", TTL);
    let mut other = round.sharer_in("read", ttl);
    let mut writer = round.waiter_in("write", LONG);
    assert_eq!(other.ask("look", PATIENCE), "looked");
    dead.kill9();
    let early = writer.line(ttl * 3 / 2);
    if early.is_some() {
        intrude(&mut writer);
    }
    let read = other.ask("write", PATIENCE);
    assert_eq!(early, None, "a reader was inside");
    assert_eq!(read, "written");
    round.pass(&mut other, &mut writer, Duration::ZERO);
}

/// kill -9 of a permit holder: the next process gets the permit when that lease ends, while another
/// permit is held.
fn permit_holder_killed(round: &mut Round<'_>) {
    const MODE: &str = "permits 2";
    let ttl = 2 * TTL;
    let mut dead = round.holder_in(MODE, ttl);
    let mut other = round.sharer_in(MODE, LONG);
    let mut next = round.worker_in(MODE);
    for worker in [&mut dead, &mut other] {
        assert_eq!(worker.ask("look", PATIENCE), "looked");
    }
    round.ask(&mut next, LONG, LONG);
    // Both permits are taken.
    let early = next.line(Duration::from_millis(300));
    if early.is_some() {
        intrude(&mut next);
    }
    for worker in [&mut dead, &mut other] {
        assert_eq!(worker.ask("write", PATIENCE), "written");
    }
    assert_eq!(early, None, "two of two permits were taken");

    dead.kill9();
    let killed = Instant::now();
    let lapse = round.lock.first_lapse();
    assert_eq!(other.ask("look", PATIENCE), "looked");
    round.joined_next(&next, killed, ttl);
    assert!(Instant::now() >= lapse, "the lease was not respected");
    round.visit(&mut next);
    assert_eq!(other.ask("write", PATIENCE), "written");
    round.release(&mut other);
    round.release(&mut next);
}

/// kill -9 of a process with 300 permits, more than one script removes, while another permit is
/// held.
fn many_shares_killed(round: &mut Round<'_>) {
    let ttl = 3 * TTL;
    let mut other = round.holder_in("permits 301", LONG);
    let mut dead = round.worker_in("permits 301");
    let together = round.command("together", ttl, PATIENCE, "300");
    assert_eq!(dead.ask(&together, PATIENCE), "ok");
    assert_eq!(round.lock.owners(), 301);
    let mut next = round.worker_in("permits 301 take 300");
    assert_eq!(other.ask("look", PATIENCE), "looked");
    dead.kill9();
    let killed = Instant::now();
    round.ask(&mut next, LONG, PATIENCE);
    round.joined_next(&next, killed, ttl);
    assert_eq!(round.lock.owners(), 2);
    round.visit(&mut next);
    assert_eq!(other.ask("write", PATIENCE), "written");
    round.release(&mut other);
    round.release(&mut next);
}

/// kill -9 of a waiting reader: the next reader goes in with the same release. If the dead reader
/// was granted a claim, that delays a writer no longer than the claim lasts.
fn waiting_reader_killed(round: &mut Round<'_>) {
    let mut holder = round.holder_in("write", LONG);
    let mut dead = round.waiter_in("read", LONG);
    let mut next = round.waiter_in("read", LONG);
    let mut writer = round.waiter_in("write", LONG);
    dead.kill9();
    // In one variant, the server has noticed the end of its connection.
    if round.variant == 1 {
        round.wait_for_channels(3);
    }
    round.pass(&mut holder, &mut next, Duration::ZERO);
    round.let_in(&mut writer, Instant::now(), CLAIM);
}

/// kill -9 of a writer that waits while a reader is inside: a reader behind it goes in, and so does
/// a newcomer.
fn waiting_writer_killed(round: &mut Round<'_>) {
    let mut inside = round.holder_in("read", LONG);
    let mut dead = round.waiter_in("write", LONG);
    let behind = round.waiter_in("read", LONG);
    let late = round.worker_in("read");
    dead.kill9();
    go_in(round, behind, late, Duration::ZERO);
    round.release(&mut inside);
}

/// The same writer is stopped: it is skipped after the time of a claim, and resumes from its place.
fn waiting_writer_paused(round: &mut Round<'_>) {
    let mut inside = round.holder_in("read", LONG);
    let mut sleeper = round.waiter_in("write", LONG);
    let behind = round.waiter_in("read", LONG);
    let late = round.worker_in("read");
    sleeper.stop();
    go_in(round, behind, late, CLAIM);
    sleeper.cont();
    round.release(&mut inside);
    round.granted(&sleeper);
    round.finish(&mut sleeper);
}

/// A waiting reader joins another one, and so does a newcomer.
fn go_in(round: &mut Round<'_>, mut behind: Worker, mut late: Worker, limit: Duration) {
    round.joined_next(&behind, Instant::now(), limit);
    let asked = Instant::now();
    round.ask(&mut late, LONG, PATIENCE);
    round.joined_next(&late, asked, Duration::ZERO);
    round.release(&mut behind);
    round.release(&mut late);
}

/// kill -9 of a process with a permit and more waiters than a script admits in one step, while the
/// other permits are held: the waiter behind them gets the permit when the lease ends.
fn crowd_killed(round: &mut Round<'_>) {
    behind_a_crowd(round, Worker::kill9, TTL);
}

/// The same process is stopped. Its waiters that have just polled are granted the permit for a
/// claim.
fn crowd_paused(round: &mut Round<'_>) {
    behind_a_crowd(round, |crowd| crowd.stop(), 2 * CLAIM);
}

fn behind_a_crowd(round: &mut Round<'_>, is_gone: fn(&mut Worker), limit: Duration) {
    const WAITERS: usize = 40;
    let mut other = round.holder_in("permits 5 take 4", LONG);
    let mut crowd = round.sharer_in("permits 5", TTL);
    let begin = round.command("begin", TTL, PATIENCE, "");
    for _ in 0..WAITERS {
        assert_eq!(crowd.ask(&begin, PATIENCE), "begun");
    }
    round.wait_for_queue(WAITERS);
    let mut next = round.waiter_in("permits 5", LONG);
    is_gone(&mut crowd);
    round.joined_next(&next, Instant::now(), limit);
    crowd.kill9();
    round.release(&mut next);
    round.release(&mut other);
}

/// A reader is stopped past its lease, in the middle of its body, and then continues.
fn reader_paused(round: &mut Round<'_>) {
    followed_by_a_writer(round);
    beside_another_reader(round);
}

fn followed_by_a_writer(round: &mut Round<'_>) {
    let sleeper = round.holder_in("read", TTL);
    let next = round.waiter_in("write", LONG);
    // Its reads are stale then, and its token reveals it.
    followed(round, sleeper, next);
}

/// The lock is still shared when the reader resumes: neither its renewal nor its release has an
/// effect.
fn beside_another_reader(round: &mut Round<'_>) {
    let mut sleeper = round.holder_in("read", TTL);
    let mut other = round.sharer_in("read", LONG);
    sleeper.stop();
    let lapse = round.lock.first_lapse();
    // Rounded up to a millisecond of the server's clock.
    let lapse = lapse + Duration::from_millis(2);
    wait_until("end of its lease", PATIENCE, || Instant::now() > lapse);
    sleeper.cont();
    is_lost(&mut sleeper);
    round.retire(sleeper);
    assert_eq!(other.ask("renew", PATIENCE), "ok");
    round.finish(&mut other);
    assert_eq!(round.lock.value(), None, "the lost share was left");
}

/// The record of the shares is evicted: no share joins, and the lock is held until it expires. The
/// readers learn of it at their renewal.
fn shares_evicted(round: &mut Round<'_>) {
    let ttl = 4 * TTL;
    let mut readers = [round.holder_in("read", ttl), round.sharer_in("read", ttl)];
    for reader in &mut readers {
        assert_eq!(reader.ask("look", PATIENCE), "looked");
    }
    let shares = round.lock.r.clone();
    assert_eq!(round.lock.command::<i64>(&["DEL", &shares]), 1);
    let evicted = Instant::now();
    let end = round.lock.lease_end();
    let mut late = round.worker_in("read");
    round.refused(&mut late, (LONG, Duration::ZERO), "Busy");
    let mut writer = round.waiter_in("write", LONG);
    for mut reader in readers {
        assert_eq!(reader.ask("write", PATIENCE), "written");
        round.told(&mut reader, end);
    }
    round.granted_next(&writer, evicted, ttl);
    assert!(Instant::now() >= end, "the lease was not respected");
    round.finish(&mut writer);
}

/// The lock's record is deleted, but the record of its shares is left: the readers learn of it at
/// their renewal, and none of them counts for the next share.
fn lock_deleted_under_readers(round: &mut Round<'_>) {
    let mut readers = [round.holder_in("read", LONG), round.sharer_in("read", LONG)];
    for reader in &mut readers {
        assert_eq!(reader.ask("look", PATIENCE), "looked");
    }
    let mut next = round.worker_in("permits 1");
    let end = round.lock.lease_end();
    round.lock.delete_record();
    assert_eq!(round.lock.owners(), 2);
    let deleted = Instant::now();
    round.comes(&mut next, LONG, deleted, Duration::ZERO);
    round.visit(&mut next);

    for mut reader in readers {
        assert_eq!(reader.ask("write", PATIENCE), "stale");
        round.told(&mut reader, end);
        round.retire(reader);
        let is_there = round.lock.is_held_by(&next) && round.lock.owners() == 1;
        assert!(is_there, "the new holder was affected");
    }
    assert_eq!(next.ask("renew", PATIENCE), "ok");
    round.release(&mut next);
}
