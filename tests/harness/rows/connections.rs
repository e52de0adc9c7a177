//! Connections that the server closes, and the messages that are lost with them.

use super::*;

rows! {
    E clients_killed;
    E server_demoted;
    E push_lost, walked;
    E push_doubled, walked;
    E message_forged;
    E push_late, walked;
}

/// All clients are disconnected, ten times a second or as often as the machine allows.
fn clients_killed(round: &mut Round<'_>) {
    hammered_without_clients(round, &["plain"; 3]);
}

/// A process of each mode visits the resource, while all clients are disconnected repeatedly.
pub(super) fn hammered_without_clients(round: &mut Round<'_>, modes: &[&str]) {
    const TIME: Duration = Duration::from_millis(1_500);
    let mut storm = ["normal", "pubsub"].into_iter().cycle();
    let mut last = Instant::now();
    let mut blows = 0;
    round.hammer(modes, LONG, TIME, |round| {
        if last.elapsed() >= Duration::from_millis(100) {
            last = Instant::now();
            let killed = kill(round, storm.next().expect("it goes on"));
            blows += usize::from(killed > 0);
        }
    });
    assert!(blows > 1, "a client was disconnected only {blows} times");
}

/// The server becomes a replica and, two seconds later, a primary again. It keeps its data, and
/// accepts clients meanwhile.
fn server_demoted(round: &mut Round<'_>) {
    /// Two processes that reconnect with backoff. Without backoff there are hundreds of
    /// connections.
    const FEW: u64 = 40;
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let name = "total_connections_received";
    let before = round.figure(name);
    // There is no server at that address, so no data is copied over the server's.
    round.lock.command::<()>(&["REPLICAOF", "127.0.0.1", "1"]);
    assert_eq!(waiter.line(Duration::from_secs(2)), None);
    let made = round.figure(name) - before;
    assert!((1..=FEW).contains(&made), "{made} connections");
    round.lock.command::<()>(&["REPLICAOF", "NO", "ONE"]);
    renewed(&mut holder);
    round.pass(&mut holder, &mut waiter, SOON);
}

/// A waiter's connection breaks at the moment of the hand-off, on either side of it: the waiter learns
/// of its grant by a poll.
fn push_lost(round: &mut Round<'_>) {
    lost_on_its_way(round);
    sent_without_a_receiver(round);
}

/// The server has granted the lock and sent the message, which is lost with the connection.
fn lost_on_its_way(round: &mut Round<'_>) {
    let (proxy, waiter) = round.behind_a_proxy();
    let mut holder = round.holder(LONG);
    let mut waiter = round.queued(waiter, LONG, PATIENCE);
    proxy.replies(Mode::Hold);
    let released = round.release(&mut holder);
    assert!(round.lock.is_held_by(&waiter), "the message was not sent");
    proxy.kill_connections();
    proxy.heal();
    round.let_in(&mut waiter, released, SOON);
}

/// All connections are gone when the server looks for a waiter to grant the lock.
fn sent_without_a_receiver(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    // The waiter does not reconnect before the release.
    waiter.stop();
    let killed = kill(round, "pubsub") + kill(round, "normal");
    assert!(killed > 1, "{killed} of two were disconnected");
    let released = round.release(&mut holder);
    assert_eq!(round.lock.value(), None, "a client listened");
    waiter.cont();
    round.let_in(&mut waiter, released, SOON);
}

/// A waiter gets duplicate messages about its grant, before and after the grant.
fn push_doubled(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let own = waiting(round);
    let push = |round: &mut Round<'_>| tell(round, &own, &own);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    push(round);
    // Enough time to act on the message.
    let believed = waiter.line(Duration::from_millis(300));
    if believed.is_some() {
        intrude(&mut waiter);
    }
    assert_eq!(holder.ask("write", PATIENCE), "written");
    assert_eq!(believed, None, "it was not served");
    let released = round.release(&mut holder);
    push(round);
    round.granted_next(&waiter, released, Duration::ZERO);
    push(round);
    round.finish(&mut waiter);
}

/// The entry of the waiter in the queue.
fn waiting(round: &mut Round<'_>) -> String {
    let members = round.lock.queue_members().into_iter();
    let mut waiters = members.filter(|&(_, ticket)| ticket > 0);
    waiters.next().expect("a waiter queues").0
}

/// Sends the process of this waiter messages that name an owner as the holder.
fn tell(round: &mut Round<'_>, waiter: &str, owner: &str) {
    let channel = format!("lock:{}", &waiter[..8]);
    let message = format!("{}{}", &owner[..22], round.lock.k);
    for _ in 0..20 {
        let heard: i64 = round.lock.command(&["PUBLISH", &channel, &message]);
        assert_eq!(heard, 1, "the waiter listens");
    }
}

/// A message names a client as the new holder of a lock that another owner holds. The client does not
/// know that owner, and must not end it.
fn message_forged(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let record = round.lock.value().expect("it is held");
    let entry = waiting(round);
    tell(round, &entry, &record);
    stays_out(
        &mut waiter,
        &mut holder,
        Duration::from_millis(500),
        "the lock was ended",
    );
    round.pass(&mut holder, &mut waiter, SOON);
}

/// The message reaches a waiter that has given up: the waiter hands the lock off.
fn push_late(round: &mut Round<'_>) {
    const WAIT: Duration = Duration::from_secs(1);
    let (proxy, gone) = round.behind_a_proxy();
    let mut holder = round.holder(LONG);
    let mut next = round.worker();
    // The start of this process must not consume the other's wait.
    next.ask("idle", PATIENCE);
    let gone = round.queued(gone, LONG, WAIT);
    let mut next = round.queued(next, LONG, PATIENCE);
    proxy.replies(Mode::Hold);
    let released = round.release(&mut holder);
    let answer = gone.line(PATIENCE).expect("an answer");
    assert!(answer.starts_with("failed "), "{answer}");
    proxy.heal();
    // The waiter had to confirm within a claim.
    round.let_in(&mut next, released, super::CLAIM);
}

/// Closes the connections of this type, and returns their number. With RESP3 a subscribed
/// connection also sends commands, so either type may match.
fn kill(round: &mut Round<'_>, kind: &str) -> i64 {
    round
        .lock
        .command(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"])
}
