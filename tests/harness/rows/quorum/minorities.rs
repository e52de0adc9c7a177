//! Nodes that are away: locks keep working without a minority, but not without a majority.

use super::*;
use crate::scene::ask;

rows! {
    E quorum_node_killed on RedisQuorum::start;
    E quorum_node_stopped on RedisQuorum::start;
    E quorum_node_cut on RedisQuorum::start;
    E quorum_node_refusing on RedisQuorum::start, of 2;
    E quorum_minority_of_five on || RedisQuorum::with(5), of 3;
    E quorum_slow_node on RedisQuorum::start;
    E quorum_majority_away on RedisQuorum::start, of 2;
    E quorum_majority_killed on five_with_a_delay;
    E quorum_majority_refusing on RedisQuorum::start, of 2;
}

/// Five nodes with a restart delay that is short enough for a round.
fn five_with_a_delay() -> RedisQuorum {
    RedisQuorum::of((0..5).map(|_| RedisServer::builder()), LEASE)
}

/// A lease, and the restart delay of a row that waits until it is over.
const LEASE: Duration = Duration::from_secs(2);

/// One of three nodes is killed.
fn quorum_node_killed(round: &mut QuorumRound<'_>) {
    without_one(round, RedisServer::kill9, RedisServer::restart);
}

/// One of three nodes is stopped: its sockets stay open, but answer nothing.
fn quorum_node_stopped(round: &mut QuorumRound<'_>) {
    without_one(round, |node| node.pause(), |node| node.resume());
}

/// The network to one of three nodes drops all packets; later they all arrive.
fn quorum_node_cut(round: &mut QuorumRound<'_>) {
    let [away, stays] = roles(round);
    let proxies = round.proxies();
    let url = round.server.url_through(&proxies);
    let (cut, heal) = (|| proxies[away].black_hole(), || proxies[away].heal());
    without(round, stays, &url, |_| cut(), |_| heal());
}

/// One of three nodes refuses commands: in turn, it is out of memory, or asks for a password.
fn quorum_node_refusing(round: &mut QuorumRound<'_>) {
    let [away, stays] = roles(round);
    let url = round.server.url();
    let refusal = Refusal::of(round);
    let begin = |quorum: &mut RedisQuorum| refusal.begin(&quorum.nodes[away]);
    let end = |quorum: &mut RedisQuorum| refusal.end(&quorum.nodes[away]);
    without(round, stays, &url, begin, end);
}

/// Why a node refuses.
#[derive(Clone, Copy, PartialEq)]
enum Refusal {
    OutOfMemory,
    /// Clients without a name need a password.
    Password,
}

impl Refusal {
    /// The refusal of this variant.
    fn of(round: &QuorumRound<'_>) -> Self {
        match round.variant {
            0 => Self::OutOfMemory,
            _ => Self::Password,
        }
    }

    fn begin(self, node: &RedisServer) {
        match self {
            Self::OutOfMemory => node.config_set("maxmemory", "1"),
            Self::Password => {
                change_user(node, "resetpass");
                let kill = ["CLIENT", "KILL", "USER", "default"];
                ask::<i64>(&mut node.connection(), &kill);
            }
        }
    }

    fn end(self, node: &RedisServer) {
        match self {
            Self::OutOfMemory => node.config_set("maxmemory", "0"),
            Self::Password => change_user(node, "nopass"),
        }
    }
}

fn change_user(node: &RedisServer, rule: &str) {
    let set = ["ACL", "SETUSER", "default", rule];
    ask(&mut node.connection(), &set)
}

/// Two of five nodes are away: in turn, one is killed and one is stopped, both are cut off, and
/// both refuse.
fn quorum_minority_of_five(round: &mut QuorumRound<'_>) {
    let [first, second, stays] = roles(round);
    let proxies = round.proxies();
    let url = round.server.url_through(&proxies);
    let ways = [&proxies[first], &proxies[second]];
    let fault = round.variant;
    without(
        round,
        stays,
        &url,
        |RedisQuorum { nodes, .. }| match fault {
            0 => {
                nodes[first].kill9();
                nodes[second].pause();
            }
            1 => ways.iter().for_each(|way| way.black_hole()),
            _ => {
                Refusal::OutOfMemory.begin(&nodes[first]);
                Refusal::Password.begin(&nodes[second]);
            }
        },
        |RedisQuorum { nodes, .. }| match fault {
            0 => {
                nodes[first].restart();
                nodes[second].resume();
            }
            1 => ways.iter().for_each(|way| way.heal()),
            _ => {
                Refusal::OutOfMemory.end(&nodes[first]);
                Refusal::Password.end(&nodes[second]);
            }
        },
    );
}

/// The answers of one of three nodes take 200 ms.
fn quorum_slow_node(round: &mut QuorumRound<'_>) {
    let [slow, stays] = roles(round);
    let proxies = round.proxies();
    let url = round.server.url_through(&proxies);
    let delay = || proxies[slow].replies(Mode::Delay(Duration::from_millis(200)));
    without(round, stays, &url, |_| delay(), |_| ());
    let time = Duration::from_millis(500);
    let mut workers = [round.worker_at(&url), round.worker_at(&url)];
    for worker in &mut workers {
        round.start_hammer(worker, LONG, time);
    }
    for worker in &workers {
        round.end_hammer(worker);
    }
}

/// Like [`without`], for one node that the clients reach directly.
fn without_one(
    round: &mut QuorumRound<'_>,
    fault: fn(&mut RedisServer),
    mend: fn(&mut RedisServer),
) {
    let [away, stays] = roles(round);
    let url = round.server.url();
    let fault = |quorum: &mut RedisQuorum| fault(&mut quorum.nodes[away]);
    let mend = |quorum: &mut RedisQuorum| mend(&mut quorum.nodes[away]);
    without(round, stays, &url, fault, mend);
}

/// A process holds the lock, another waits, and a third comes, without some nodes. All of them get
/// it, and none waits for those nodes.
fn without(
    round: &mut QuorumRound<'_>,
    stays: usize,
    url: &str,
    fault: impl FnOnce(&mut RedisQuorum),
    mend: impl FnOnce(&mut RedisQuorum),
) {
    /// A grant after this time would be late.
    const TIMEOUT: Duration = PATIENCE;
    round.look_at(|quorum| &quorum.nodes[stays]);
    let url = format!("{url} timeout={}", TIMEOUT.as_millis());
    let [holder, waiter, newcomer] = [(); 3].map(|()| round.worker_at(&url));
    let (holder, _) = hold(round, holder, LONG);
    let waiter = round.queued(waiter, LONG, PATIENCE);
    fault(&mut round.server);
    let mut workers = [holder, waiter, newcomer];
    go_on(round, &mut workers);
    mend(&mut round.server);
}

/// Two of three nodes are away: in turn, they are stopped, and the network to them drops all packets.
fn quorum_majority_away(round: &mut QuorumRound<'_>) {
    let [stays, first, second] = roles(round);
    round.look_at(|quorum| &quorum.nodes[stays]);
    let proxies = round.proxies();
    let url = round.server.url_through(&proxies);
    let is_stopped = round.variant == 0;
    let treat = |stop: fn(&RedisServer), cut: fn(&Proxy)| {
        let proxies = &proxies;
        move |quorum: &mut RedisQuorum| {
            [first, second]
                .into_iter()
                .for_each(|node| match is_stopped {
                    true => stop(&quorum.nodes[node]),
                    false => cut(&proxies[node]),
                });
        }
    };
    let fault = treat(RedisServer::pause, Proxy::black_hole);
    let mend = treat(RedisServer::resume, Proxy::heal);
    // So long that a busy machine renews it until the nodes are away.
    without_a_majority(round, &url, [KEPT, LONG], SOON, "1 of 3", fault, mend);
}

/// Three of five nodes are killed, and restarted empty. They vote when the restart delay is over.
fn quorum_majority_killed(round: &mut QuorumRound<'_>) {
    let [stays, away @ ..] = roles::<4>(round);
    round.look_at(|quorum| &quorum.nodes[stays]);
    // A ttl must not exceed the restart delay.
    let url = format!("{} ttl={}", round.server.url(), LEASE.as_millis());
    let treat = |treat: fn(&mut RedisServer)| {
        move |quorum: &mut RedisQuorum| {
            away.into_iter()
                .for_each(|node| treat(&mut quorum.nodes[node]));
        }
    };
    let (fault, mend) = (treat(RedisServer::kill9), treat(RedisServer::restart_empty));
    without_a_majority(round, &url, [LEASE; 2], LEASE, "2 of 5", fault, mend);
}

/// Without a majority, the body of a holder ends, and neither a waiter nor a caller that tries is
/// granted the lock. When the nodes are back, a process gets in within this limit. The ttls are the
/// holder's, and everybody else's.
fn without_a_majority(
    round: &mut QuorumRound<'_>,
    url: &str,
    [ttl, others]: [Duration; 2],
    limit: Duration,
    left: &str,
    fault: impl FnOnce(&mut RedisQuorum),
    mend: impl FnOnce(&mut RedisQuorum),
) {
    let [mut old, waiter, mut hasty, mut next] = [(); 4].map(|()| round.worker_at(url));
    persist(round, &mut old, ttl);
    let waiter = round.queued(waiter, others, 2 * ttl);
    fault(&mut round.server);
    round.call_fails(&old, "Lost");
    let tried = round.refused(&mut hasty, (others, Duration::ZERO), "Unavailable");
    let waited = round.call_fails(&waiter, "Unavailable");
    for answer in [tried, waited] {
        let told = answer.contains(&format!("{left} nodes answered"));
        assert!(told, "{answer}");
    }
    mend(&mut round.server);
    let back = Instant::now();
    round.ask(&mut next, others, PATIENCE);
    round.let_in(&mut next, back, limit);
}

/// Two of three nodes refuse: in turn, they are out of memory, so that a holder can continue, and
/// ask for a password.
fn quorum_majority_refusing(round: &mut QuorumRound<'_>) {
    let [stays, first, second] = roles(round);
    round.look_at(|quorum| &quorum.nodes[stays]);
    let [mut holder, mut hasty, mut patient] = [(); 3].map(|()| round.worker());
    let refusal = Refusal::of(round);
    match refusal {
        Refusal::OutOfMemory => holder = hold(round, holder, LONG).0,
        Refusal::Password => persist(round, &mut holder, TTL),
    }
    let away = [first, second];
    let nodes = |round: &QuorumRound<'_>, treat: fn(Refusal, &RedisServer)| {
        let nodes = away.iter().map(|&node| &round.server.nodes[node]);
        nodes.for_each(|node| treat(refusal, node));
    };
    nodes(round, Refusal::begin);
    // A refused command is not repeated.
    let answer = round.attempt(&mut patient, LONG, LONG);
    is_rejected(&answer);
    match refusal {
        Refusal::OutOfMemory => {
            assert_eq!(holder.ask("renew", PATIENCE), "ok");
            round.visit(&mut holder);
            round.release(&mut holder);
        }
        Refusal::Password => {
            round.call_fails(&holder, "Lost");
        }
    }
    let answer = round.attempt(&mut hasty, LONG, Duration::ZERO);
    is_rejected(&answer);
    nodes(round, Refusal::end);
    enters(round, &mut patient);
}

#[track_caller]
fn is_rejected(answer: &str) {
    assert!(answer.starts_with("failed Rejected "), "{answer}");
    assert!(answer.contains("2 of 3 nodes refuse it"), "{answer}");
}
