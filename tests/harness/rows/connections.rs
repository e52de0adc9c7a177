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
    let mut storm = [Kill::Normal, Kill::Pubsub].into_iter().cycle();
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
    let proxy = round.proxy();
    let mut holder = round.holder(LONG);
    let mut waiter = round.worker_at(&proxy.url());
    round.ask(&mut waiter, LONG, PATIENCE);
    round.wait_for_queue(1);
    proxy.replies(Mode::Hold);
    let released = round.release(&mut holder);
    assert!(round.lock.is_held_by(&waiter), "the message was not sent");
    proxy.kill_connections();
    proxy.heal();
    enters(round, &mut waiter, released);
}

/// All connections are gone when the server looks for a waiter to grant the lock.
fn sent_without_a_receiver(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    // The waiter does not reconnect before the release.
    waiter.stop();
    let killed = kill(round, Kill::Pubsub) + kill(round, Kill::Normal);
    assert!(killed > 1, "{killed} of two were disconnected");
    let released = round.release(&mut holder);
    assert_eq!(round.lock.value(), None, "a client listened");
    waiter.cont();
    enters(round, &mut waiter, released);
}

fn enters(round: &mut Round<'_>, waiter: &mut Worker, released: Instant) {
    round.let_in(waiter, released, SOON);
}

/// A waiter gets duplicate messages about its grant, before and after the grant.
fn push_doubled(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let members = round.lock.queue_members();
    let (entry, _) = members
        .into_iter()
        .find(|&(_, ticket)| ticket > 0)
        .expect("a waiter queues");
    let owner = &entry[..22];
    let push = |round: &mut Round<'_>| {
        let (channel, payload) = (
            format!("lock:{}", &owner[..8]),
            format!("{owner}{}", round.lock.k),
        );
        for _ in 0..20 {
            let heard: i64 = round.lock.command(&["PUBLISH", &channel, &payload]);
            assert_eq!(heard, 1, "the waiter listens");
        }
    };
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
    round.visit(&mut waiter);
    round.release(&mut waiter);
}

/// A message names a client as the new holder of a lock that another owner holds. The client does not
/// know that owner, and must not end it.
fn message_forged(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let record = round.lock.value().expect("it is held");
    let queue = round.lock.queue_members();
    let waiting = queue.iter().find(|(_, score)| *score > 0);
    let (entry, _) = waiting.expect("one waits");
    let channel = format!("lock:{}", &entry[..8]);
    let message = format!("{}{}", &record[..22], round.lock.k);
    for _ in 0..5 {
        let receivers: i64 = round.lock.command(&["PUBLISH", &channel, &message]);
        assert_eq!(receivers, 1);
    }
    stays_out(
        &mut waiter,
        &mut holder,
        Duration::from_millis(500),
        "the lock was ended",
    );
    round.visit(&mut holder);
    round.pass(&mut holder, &mut waiter, SOON);
}

/// The message reaches a waiter that has given up: the waiter hands the lock off.
fn push_late(round: &mut Round<'_>) {
    const WAIT: Duration = Duration::from_secs(1);
    let proxy = round.proxy();
    let mut holder = round.holder(LONG);
    let mut gone = round.worker_at(&proxy.url());
    let mut next = round.worker();
    // The start of this process must not consume the other's wait.
    next.ask("idle", PATIENCE);
    round.ask(&mut gone, LONG, WAIT);
    round.wait_for_queue(1);
    round.ask(&mut next, LONG, PATIENCE);
    round.wait_for_queue(2);
    proxy.replies(Mode::Hold);
    let released = round.release(&mut holder);
    let answer = gone.line(PATIENCE).expect("an answer");
    assert!(answer.starts_with("failed "), "{answer}");
    proxy.heal();
    // The waiter had to confirm within a claim.
    round.let_in(&mut next, released, super::CLAIM);
}

/// The type of connections to close.
#[derive(Clone, Copy)]
enum Kill {
    Normal,
    Pubsub,
}

/// Returns the number of closed connections. With RESP3 a subscribed connection also sends
/// commands, so either type may match.
fn kill(round: &mut Round<'_>, kind: Kill) -> i64 {
    let kind = match kind {
        Kill::Normal => "normal",
        Kill::Pubsub => "pubsub",
    };
    round
        .lock
        .command(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"])
}
