//! Several processes, each with some of the nodes.

use super::*;

rows! {
    E quorum_split_vote_killed on RedisQuorum::start;
}

/// A process, and its proxy to each node.
pub(super) struct Side {
    pub(super) worker: Worker,
    pub(super) proxies: Vec<Proxy>,
}

impl Side {
    pub(super) fn new(round: &QuorumRound<'_>) -> Self {
        let proxies = round.proxies();
        let worker = round.worker_through(&proxies);
        Self { worker, proxies }
    }
}

/// Two processes take one node each, and the third node is silent. The second process queues at the
/// first's node, while the first does not reach the second's node.
pub(super) fn split(
    round: &QuorumRound<'_>,
    [first, second]: [&mut Side; 2],
    [of_first, of_second, silent]: [usize; 3],
) {
    for proxy in [&first.proxies[silent], &second.proxies[silent]] {
        proxy.requests(Mode::Hold);
    }
    first.proxies[of_second].requests(Mode::Hold);
    let mut lock = lock_at(round, of_first);
    take(round, first, &mut lock);
    take(round, second, &mut lock_at(round, of_second));
    let second = format!("(pid {})", second.worker.pid());
    wait_until("waiter in the queue", PATIENCE, || {
        let members = lock.queue_members();
        members.iter().any(|(entry, _)| entry.ends_with(&second))
    });
}

fn take(round: &QuorumRound<'_>, side: &mut Side, lock: &mut RawLock) {
    round.ask(&mut side.worker, LONG, PATIENCE);
    wait_until("node", PATIENCE, || lock.is_held_by(&side.worker));
}

/// Three processes have one node each, and one of them is killed: the others get in.
fn quorum_split_vote_killed(round: &mut QuorumRound<'_>) {
    let nodes: [usize; 3] = roles(round);
    let mut sides = [(); 3].map(|()| Side::new(round));
    for (side, own) in sides.iter_mut().zip(nodes) {
        let others = nodes.into_iter().filter(|&node| node != own);
        others.for_each(|node| side.proxies[node].requests(Mode::Hold));
        let run = round.command("run", TTL, PATIENCE, "");
        side.worker.send(&run);
        let mut lock = lock_at(round, own);
        wait_until("node", PATIENCE, || lock.is_held_by(&side.worker));
    }
    let killed = usize::try_from(round.any_number(0, 3)).expect("it is small");
    sides[killed].worker.kill9();
    // Commands of the dead process arrive, too.
    for proxy in sides.iter().flat_map(|side| &side.proxies) {
        proxy.heal();
    }
    let mut killed = Some(killed);
    for (number, side) in sides.into_iter().enumerate() {
        if killed.take_if(|killed| *killed == number).is_some() {
            continue;
        }
        let visited = side.worker.line(PATIENCE);
        assert_eq!(visited.as_deref(), Some("written"));
    }
}
