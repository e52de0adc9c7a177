//! Three processes, each with a campaign for the lock: one leads, and the next one takes over.

use super::*;

rows! {
    E leader_terminated;
    E leader_killed;
    E leader_cut_off;
    F leader_paused;
}

/// The wait of a candidate, which no round exhausts.
const STAND: Duration = Duration::from_secs(3600);

/// A process with a campaign that waits for the lock behind all other candidates, or leads at once.
fn stand(round: &mut Round<'_>, worker: &mut Worker, ttl: Duration) {
    worker.send(&round.command("campaign", ttl, STAND, ""));
}

/// Three processes with a campaign. The first, which is this one, leads, and the others queue in this order.
fn candidates(round: &mut Round<'_>, mut leader: Worker, ttl: Duration) -> [Worker; 3] {
    stand(round, &mut leader, ttl);
    round.granted(&leader);
    wait_until("write", PATIENCE, || round.has_written(&leader));
    let others = [1, 2].map(|place| {
        let mut worker = round.worker();
        stand(round, &mut worker, ttl);
        round.wait_for_queue(place);
        worker
    });
    let [second, third] = others;
    [leader, second, third]
}

/// The process ends its campaign with its leadership. Returns when it was asked.
fn terminated(worker: &mut Worker) -> Instant {
    let told = Instant::now();
    worker.terminate();
    let answer = worker.line(PATIENCE);
    assert_eq!(answer.as_deref(), Some("stopped"));
    told
}

/// These processes end: the sockets of their signal handlers stay.
fn leave<const N: usize>(workers: [Worker; N]) {
    for mut worker in workers {
        worker.send("exit");
        worker.ended(PATIENCE);
    }
}

#[track_caller]
fn stands_again(worker: &Worker) {
    let answer = worker.line(PATIENCE).expect("it reports the loss");
    assert!(answer.starts_with("again Lost "), "{answer}");
}

/// SIGTERM: the lock is the next one's when the leader's campaign is over. Neither a ttl nor a poll is awaited.
fn leader_terminated(round: &mut Round<'_>) {
    let first = round.worker();
    let [mut first, mut second, mut third] = candidates(round, first, LONG);
    followed(round, &mut first, &second);
    followed(round, &mut second, &third);
    terminated(&mut third);
    assert_eq!(round.lock.value(), None);
    leave([first, second, third]);
}

fn followed(round: &mut Round<'_>, leader: &mut Worker, next: &Worker) {
    let told = terminated(leader);
    assert!(round.lock.is_held_by(next), "the release hands it off");
    round.granted_next(next, told, Duration::ZERO);
    wait_until("write", PATIENCE, || round.has_written(next));
}

/// kill -9: the next one leads when the lease ends.
fn leader_killed(round: &mut Round<'_>) {
    let first = round.worker();
    let [mut first, mut second, mut third] = candidates(round, first, TTL);
    first.kill9();
    leads_next(round, &second, TTL);
    // A candidate leaves the queue.
    terminated(&mut third);
    round.wait_for_queue(0);
    terminated(&mut second);
    leave([second, third]);
}

/// The leader's packets are dropped: its body ends before its lease does, and it stands again.
fn leader_cut_off(round: &mut Round<'_>) {
    let (proxy, first) = round.behind_a_proxy();
    let [first, second, third] = candidates(round, first, KEPT);
    proxy.black_hole();
    leads_next(round, &second, KEPT);
    stands_again(&first);
    proxy.heal();
    all_lead(round, [second, third, first]);
}

/// SIGSTOP past the lease: the leader writes once more, which the resource refuses, and stands again.
fn leader_paused(round: &mut Round<'_>) {
    let first = round.worker();
    let [first, second, third] = candidates(round, first, TTL);
    first.stop();
    leads_next(round, &second, TTL);
    wait_until("write", PATIENCE, || round.has_written(&second));
    first.cont();
    stands_again(&first);
    all_lead(round, [second, third, first]);
}

/// The leader of a lease with this ttl is gone: the next one leads when the lease ends, and not before.
fn leads_next(round: &mut Round<'_>, next: &Worker, ttl: Duration) {
    let gone = Instant::now();
    let lease = round.lock.lease_end();
    round.granted_next(next, gone, ttl);
    assert!(Instant::now() >= lease, "the lease was not respected");
}

/// The first of them leads, and the others do after it, in this order.
fn all_lead(round: &mut Round<'_>, mut workers: [Worker; 3]) {
    // The former leader has its place behind the others again.
    round.wait_for_queue(2);
    for number in 0..2 {
        let told = terminated(&mut workers[number]);
        round.granted_next(&workers[number + 1], told, SOON);
    }
    terminated(&mut workers[2]);
    leave(workers);
}
