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

/// How a node is away.
#[derive(Clone, Copy, PartialEq)]
enum Away {
    /// Killed, and later restarted without its data.
    Killed,
    /// Its sockets stay open, but answer nothing.
    Stopped,
    /// The network to it drops all packets; later they all arrive.
    Cut,
    /// Its answers take 200 ms.
    Slow,
    /// It refuses every command that may need memory.
    OutOfMemory,
    /// Clients without a name need a password.
    Password,
}

/// The ways to refuse commands.
const REFUSALS: [Away; 2] = [Away::OutOfMemory, Away::Password];

impl Away {
    /// `way` is the proxy in front of the node.
    fn begin(self, node: &mut RedisServer, way: &Proxy) {
        match self {
            Self::Killed => node.kill9(),
            Self::Stopped => node.pause(),
            Self::Cut => way.black_hole(),
            Self::Slow => way.replies(Mode::Delay(Duration::from_millis(200))),
            Self::OutOfMemory => node.config_set("maxmemory", "1"),
            Self::Password => {
                change_user(node, "resetpass");
                let kill = ["CLIENT", "KILL", "USER", "default"];
                ask::<i64>(&mut node.connection(), &kill);
            }
        }
    }

    fn end(self, node: &mut RedisServer, way: &Proxy) {
        match self {
            Self::Killed => node.restart(),
            Self::Stopped => node.resume(),
            Self::Cut | Self::Slow => way.heal(),
            Self::OutOfMemory => node.config_set("maxmemory", "0"),
            Self::Password => change_user(node, "nopass"),
        }
    }
}

fn change_user(node: &RedisServer, rule: &str) {
    let set = ["ACL", "SETUSER", "default", rule];
    ask(&mut node.connection(), &set)
}

/// Nodes that will be away.
struct Absence {
    away: Vec<(usize, Away)>,
    /// A proxy in front of each node.
    ways: Vec<Proxy>,
    /// The address for processes. It leads through the proxies if they cause the absence.
    url: String,
}

impl Absence {
    /// That many nodes, different ones in each round. The round inspects a node that stays.
    fn new(round: &mut QuorumRound<'_>, away: &[Away]) -> Self {
        let (first, nodes) = (round.number, round.server.nodes.len());
        let number = |place: usize| (first + place) % nodes;
        round.look_at(|quorum| &quorum.nodes[number(away.len())]);
        let ways = round.proxies();
        let is_of_the_network = |away: &Away| matches!(away, Away::Cut | Away::Slow);
        let url = if away.iter().any(is_of_the_network) {
            round.server.url_through(&ways)
        } else {
            round.server.url()
        };
        let away = away.iter().enumerate();
        let away = away.map(|(place, &away)| (number(place), away)).collect();
        Self { away, ways, url }
    }

    fn begin(&self, round: &mut QuorumRound<'_>) {
        for &(node, away) in &self.away {
            away.begin(&mut round.server.nodes[node], &self.ways[node]);
        }
    }

    fn end(&self, round: &mut QuorumRound<'_>) {
        for &(node, away) in &self.away {
            away.end(&mut round.server.nodes[node], &self.ways[node]);
        }
    }

    /// A process holds the lock, another waits, and a third tries and then waits, without these
    /// nodes. All of them get it, and none waits for those nodes.
    fn delays_no_call(&self, round: &mut QuorumRound<'_>) {
        /// A grant after this time would be late.
        const TIMEOUT: Duration = PATIENCE;
        let url = format!("{} timeout={}", self.url, TIMEOUT.as_millis());
        let [holder, waiter, mut newcomer] = [(); 3].map(|()| round.worker_at(&url));
        let (holder, _) = hold(round, holder, LONG);
        let waiter = round.queued(waiter, LONG, PATIENCE);
        self.begin(round);
        round.refused(&mut newcomer, (LONG, Duration::ZERO), "Busy");
        go_on(round, &mut [holder, waiter, newcomer]);
    }
}

fn without(round: &mut QuorumRound<'_>, away: &[Away]) {
    let absence = Absence::new(round, away);
    absence.delays_no_call(round);
    absence.end(round);
}

/// One of three nodes is killed.
fn quorum_node_killed(round: &mut QuorumRound<'_>) {
    without(round, &[Away::Killed]);
}

/// One of three nodes is stopped.
fn quorum_node_stopped(round: &mut QuorumRound<'_>) {
    without(round, &[Away::Stopped]);
}

/// One of three nodes is cut off.
fn quorum_node_cut(round: &mut QuorumRound<'_>) {
    without(round, &[Away::Cut]);
}

/// One of three nodes refuses commands, in turn for each reason.
fn quorum_node_refusing(round: &mut QuorumRound<'_>) {
    without(round, &[REFUSALS[round.variant]]);
}

/// Two of five nodes are away: in turn, one is killed and one is stopped, both are cut off, and
/// both refuse.
fn quorum_minority_of_five(round: &mut QuorumRound<'_>) {
    let away = [[Away::Killed, Away::Stopped], [Away::Cut; 2], REFUSALS];
    without(round, &away[round.variant]);
}

/// The answers of one of three nodes are slow.
fn quorum_slow_node(round: &mut QuorumRound<'_>) {
    let absence = Absence::new(round, &[Away::Slow]);
    absence.delays_no_call(round);
    // The node stays slow for the hammers too.
    let time = Duration::from_millis(500);
    let mut workers = [(); 2].map(|()| round.worker_at(&absence.url));
    for worker in &mut workers {
        round.start_hammer(worker, LONG, time);
    }
    for worker in &workers {
        round.end_hammer(worker);
    }
}

/// Two of three nodes are away: in turn, they are stopped, and cut off.
fn quorum_majority_away(round: &mut QuorumRound<'_>) {
    let away = [Away::Stopped, Away::Cut][round.variant];
    // So long that a busy machine renews it until the nodes are away.
    without_a_majority(round, &[away; 2], [KEPT, LONG], SOON, "1 of 3");
}

/// Three of five nodes are killed, and restarted empty. They vote when the restart delay is over.
fn quorum_majority_killed(round: &mut QuorumRound<'_>) {
    without_a_majority(round, &[Away::Killed; 3], [LEASE; 2], LEASE, "2 of 5");
}

/// Without a majority, the body of a holder ends, and neither a waiter nor a caller that tries is
/// granted the lock. When the nodes are back, a process gets in within this limit. The ttls are the
/// holder's, and everybody else's.
fn without_a_majority(
    round: &mut QuorumRound<'_>,
    away: &[Away],
    [ttl, others]: [Duration; 2],
    limit: Duration,
    left: &str,
) {
    let absence = Absence::new(round, away);
    // A ttl must not exceed the restart delay.
    let url = format!("{} ttl={}", absence.url, others.as_millis());
    let [mut old, waiter, mut hasty, mut next] = [(); 4].map(|()| round.worker_at(&url));
    persist(round, &mut old, ttl);
    let waiter = round.queued(waiter, others, 2 * ttl);
    absence.begin(round);
    round.call_fails(&old, "Lost");
    let tried = round.refused(&mut hasty, (others, Duration::ZERO), "Unavailable");
    let waited = round.call_fails(&waiter, "Unavailable");
    let told = tried.contains(&format!("{left} nodes answered"));
    assert!(told, "{tried}");
    // A node in whose queue it was counts until a command to it was not answered: on a busy machine, its last ones are on
    // their way when its wait ends.
    assert!(waited.contains(" nodes answered"), "{waited}");
    absence.end(round);
    round.enters(&mut next, others, Instant::now(), limit);
}

/// Two of three nodes refuse: in turn, they are out of memory, so that a holder can continue, and
/// ask for a password.
fn quorum_majority_refusing(round: &mut QuorumRound<'_>) {
    let [mut holder, mut hasty, mut patient] = [(); 3].map(|()| round.worker());
    let refusal = REFUSALS[round.variant];
    let absence = Absence::new(round, &[refusal; 2]);
    if refusal == Away::OutOfMemory {
        holder = hold(round, holder, LONG).0;
    } else {
        persist(round, &mut holder, TTL);
    }
    absence.begin(round);
    // A refused command is not repeated.
    let answer = round.attempt(&mut patient, LONG, LONG);
    is_rejected(&answer);
    if refusal == Away::OutOfMemory {
        assert_eq!(holder.ask("renew", PATIENCE), "ok");
        round.finish(&mut holder);
    } else {
        round.call_fails(&holder, "Lost");
    }
    let answer = round.attempt(&mut hasty, LONG, Duration::ZERO);
    is_rejected(&answer);
    absence.end(round);
    round.enters(&mut patient, LONG, Instant::now(), SOON);
}

#[track_caller]
fn is_rejected(answer: &str) {
    assert!(answer.starts_with("failed Rejected "), "{answer}");
    assert!(answer.contains("2 of 3 nodes refuse it"), "{answer}");
}
