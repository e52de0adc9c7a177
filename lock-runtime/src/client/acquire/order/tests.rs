//! Random call trees, in memory. The rings that are found are compared with the rings of an exhaustive search.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::call_tree::in_current_hold;
use crate::client::testing::deny_lock_order;
use crate::client::{Acquire, LockClient, LockGuard, OnBusy};
use crate::error::LockErrorKind;
use crate::key::{KeyTemplate, LockKey};

/// For some pairs, the values decide which name sorts first.
const CLASSES: [&str; 5] = ["<>:a", "c:<>", "c:<>:d", "e:<>", "f:<>"];

static TEMPLATES: LazyLock<[KeyTemplate; CLASSES.len()]> =
    LazyLock::new(|| CLASSES.map(|outline| KeyTemplate("", outline)));

/// A lock, ordered by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    number: u8,
    class: usize,
}

impl Lock {
    /// The value sorts before the text of all classes, or after it.
    fn name(self) -> String {
        let value = match self.number {
            0 => "0".to_owned(),
            number => format!("x{number}"),
        };
        CLASSES[self.class].replace("<>", &value)
    }

    /// Returns whether each lock of this class comes before each lock of the other class.
    fn is_always_before(self, other: Lock) -> bool {
        let names = |class: usize| ["!", "~"].map(|value| CLASSES[class].replace("<>", value));
        let others = names(other.class);
        let mut names = names(self.class).into_iter();
        names.all(|name| others.iter().all(|other| name < *other))
    }
}

impl Ord for Lock {
    fn cmp(&self, other: &Lock) -> std::cmp::Ordering {
        self.name().cmp(&other.name())
    }
}

impl PartialOrd for Lock {
    fn partial_cmp(&self, other: &Lock) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A call for one lock or several, and what its body does.
#[derive(Clone, Debug)]
struct Node {
    /// Each lock once, in the order in which locks are taken.
    locks: BTreeSet<Lock>,
    access: Access,
    patience: Patience,
    body: Body,
    calls: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Alone,
    Read,
    Permits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    Waits,
    Tries,
    Skips,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Here,
    /// In a task that carries the call tree.
    Carried,
    /// No body: the guard is kept while the parent's next calls run, which are not inside it.
    Kept,
}

impl Node {
    /// A call for several locks is exclusive. A guard that is kept blocks no other call, since no other call has its
    /// key.
    fn new(
        locks: BTreeSet<Lock>,
        access: Access,
        patience: Patience,
        body: Body,
        calls: Vec<Node>,
    ) -> Node {
        let is_one = locks.len() == 1;
        Node {
            access: if is_one { access } else { Access::Alone },
            body: if is_one || body != Body::Kept {
                body
            } else {
                Body::Here
            },
            locks,
            patience,
            calls,
        }
    }

    fn acquire(&self, client: &LockClient) -> Acquire {
        static KEPT: AtomicUsize = AtomicUsize::new(0);
        let kept = KEPT.fetch_add(1, Ordering::Relaxed);
        let key = |lock: &Lock| {
            let class = CLASSES[lock.class];
            let text = match self.body {
                Body::Kept => class.replace("<>", &format!("kept-{kept}")),
                _ => lock.name(),
            };
            LockKey::from(text).with_template(&TEMPLATES[lock.class])
        };
        let acquire = match self.locks.iter().next().filter(|_| self.locks.len() == 1) {
            Some(lock) => client.lock(key(lock)),
            None => client.lock_all(self.locks.iter().map(key)),
        };
        let mut acquire = match self.access {
            Access::Alone => acquire,
            Access::Read => acquire.read(),
            Access::Permits => acquire.permits(3),
        };
        match self.patience {
            Patience::Waits => acquire,
            Patience::Tries => acquire.wait(Duration::ZERO),
            Patience::Skips => {
                acquire.options.on_busy = OnBusy::Skip;
                acquire
            }
        }
    }
}

/// Removes the calls inside calls for several locks. Such a call may enter several leases of its tree in any order, and
/// that order decides which of its edges closes a ring first.
fn with_bodies_of_one_lock(mut node: Node) -> Node {
    if node.locks.len() > 1 {
        node.calls.clear();
    }
    node.calls = node
        .calls
        .into_iter()
        .map(with_bodies_of_one_lock)
        .collect();
    node
}

/// Calls for one lock, or for up to `several` of them.
fn node(several: usize) -> impl Strategy<Value = Node> {
    use Access::{Alone, Permits, Read};
    let locks = move || {
        let lock =
            || (0..CLASSES.len(), 0..2_u8).prop_map(|(class, number)| Lock { number, class });
        let locks = prop_oneof![4 => vec(lock(), 1), 1 => vec(lock(), 1..=several)];
        locks.prop_map(BTreeSet::from_iter)
    };
    let access = || prop_oneof![3 => Just(Alone), 2 => Just(Read), 1 => Just(Permits)];
    let patience = || {
        prop_oneof![
            8 => Just(Patience::Waits),
            1 => Just(Patience::Tries),
            1 => Just(Patience::Skips),
        ]
    };
    let body =
        || prop_oneof![6 => Just(Body::Here), 1 => Just(Body::Carried), 1 => Just(Body::Kept)];
    let leaf =
        (locks(), access(), patience(), body()).prop_map(|(locks, access, patience, body)| {
            Node::new(locks, access, patience, body, vec![])
        });
    leaf.prop_recursive(4, 24, 3, move |inner| {
        (locks(), access(), patience(), body(), vec(inner, 0..3)).prop_map(
            |(locks, access, patience, body, calls)| {
                Node::new(locks, access, patience, body, calls)
            },
        )
    })
}

type Calls = Pin<Box<dyn Future<Output = Vec<LockErrorKind>> + Send>>;

/// Makes the calls one after the other. Returns the errors, in the order of the calls.
fn play(client: LockClient, nodes: Vec<Node>) -> Calls {
    Box::pin(async move {
        let (mut errors, mut kept) = (Vec::new(), Vec::new());
        for node in nodes {
            let acquired = node.acquire(&client).acquire().await;
            match (acquired, node.body) {
                (Err(error), _) => errors.push(error.kind()),
                (Ok(guard), Body::Kept) => kept.push(guard),
                (Ok(guard), body) => {
                    let calls = play(client.clone(), node.calls);
                    errors.extend(inside(guard, body, calls).await);
                }
            }
        }
        errors
    })
}

async fn inside(guard: LockGuard, body: Body, calls: Calls) -> Vec<LockErrorKind> {
    let errors = match body {
        Body::Carried => {
            let task = guard.run(async { tokio::spawn(in_current_hold(calls)).await });
            task.await.map(|joined| joined.expect("no call panics"))
        }
        _ => guard.run(calls).await,
    };
    guard.release().await.expect("the lock is not lost");
    errors.expect("the lock is not lost")
}

/// The locks that the calls take, and their order, by the documented rules alone.
#[derive(Default)]
struct Oracle {
    edges: BTreeSet<Edge>,
    refusals: Refusals,
    leases: usize,
}

#[derive(Default, PartialEq, Eq)]
enum Refusals {
    #[default]
    None,
    OfRings,
}

/// A held lock, an awaited lock, and how the call takes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    source: Source,
    held: Lock,
    is_shared: bool,
    asked: Lock,
    is_for_reading: bool,
}

/// The reason for an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// A call inside another one.
    Calls,
    /// One call for several locks, which takes them in the order that all calls for several locks have.
    OneCall,
}

/// A lock that the tree holds: how its outermost call has it, and how this call entered it.
#[derive(Clone, Copy)]
struct HeldLock {
    lock: Lock,
    /// The same for all locks of one lease, which are entered together.
    lease: usize,
    outermost: Access,
    access: Access,
}

impl Oracle {
    fn play(&mut self, nodes: &[Node], held: &mut Vec<HeldLock>) -> Vec<LockErrorKind> {
        let mut errors = Vec::new();
        for node in nodes {
            match self.enter(node, held) {
                Err(kind) => errors.push(kind),
                Ok(entered) if node.body != Body::Kept => {
                    let depth = held.len();
                    held.extend(entered);
                    errors.extend(self.play(&node.calls, held));
                    held.truncate(depth);
                }
                Ok(_) => {}
            }
        }
        errors
    }

    fn enter(&mut self, node: &Node, held: &[HeldLock]) -> Result<Vec<HeldLock>, LockErrorKind> {
        let access = node.access;
        let mut entered = Vec::new();
        let mut asked = Vec::new();
        for &lock in &node.locks {
            let outer = held.iter().rev().find(|outer| outer.lock == lock);
            match outer.filter(|_| node.body != Body::Kept) {
                None => asked.push(lock),
                Some(outer) if [Access::Alone, access].contains(&outer.access) => {
                    let of_its_lease = held.iter().filter(|other| other.lease == outer.lease);
                    entered.extend(of_its_lease.map(|other| HeldLock { access, ..*other }));
                }
                Some(_) => return Err(LockErrorKind::Reentered),
            }
        }
        if node.patience == Patience::Waits && self.ask(node, &asked, held) == Answer::Refused {
            return Err(LockErrorKind::OutOfOrder);
        }
        let outermost = access;
        self.leases += 1;
        let lease = self.leases;
        entered.extend(asked.into_iter().map(|lock| HeldLock {
            lock,
            lease,
            outermost,
            access,
        }));
        Ok(entered)
    }

    fn ask(&mut self, node: &Node, asked: &[Lock], held: &[HeldLock]) -> Answer {
        let mut answer = Answer::Goes;
        let mut see = |edge| {
            let is_new = self.edges.insert(edge);
            if is_new && self.refusals == Refusals::OfRings && !self.rings().is_empty() {
                self.edges.remove(&edge);
                answer = Answer::Refused;
            }
        };
        for outer in held.iter().rev() {
            for &lock in asked {
                // No other call has the key of a guard that is kept.
                let is_kept = node.body == Body::Kept;
                let number = if is_kept { 9 } else { lock.number };
                see(Edge {
                    source: Source::Calls,
                    held: outer.lock,
                    is_shared: outer.outermost != Access::Alone,
                    asked: Lock { number, ..lock },
                    is_for_reading: node.access == Access::Read,
                });
            }
        }
        for (place, last) in asked.iter().enumerate() {
            for (first_place, first) in asked[..place].iter().enumerate() {
                let leads_there =
                    |lock: &Lock| first.is_always_before(*lock) && lock.is_always_before(*last);
                let is_next = first.is_always_before(*last)
                    && !asked[first_place..place].iter().any(leads_there);
                if !is_next && first.class != last.class {
                    continue;
                }
                see(Edge {
                    source: Source::OneCall,
                    held: *first,
                    is_shared: false,
                    asked: *last,
                    is_for_reading: false,
                });
            }
        }
        answer
    }

    /// Returns all rings, each starting at its lowest class.
    fn rings(&self) -> BTreeSet<Vec<String>> {
        let mut rings = BTreeSet::new();
        for first in &self.edges {
            for second in &self.edges {
                let (is_class, are_reverse) = (
                    first.held.class == first.asked.class,
                    first.held == second.asked && first.asked == second.held,
                );
                let is_nested = are_nested(&[*first, *second]);
                if is_class
                    && are_reverse
                    && is_nested
                    && first.blocks(second)
                    && second.blocks(first)
                {
                    rings.insert(vec![CLASSES[first.held.class].to_owned()]);
                }
            }
            if first.held.class < first.asked.class {
                self.close(&mut vec![*first], &mut rings);
            }
        }
        rings
    }

    /// Tries every edge at the end of a path.
    fn close(&self, path: &mut Vec<Edge>, rings: &mut BTreeSet<Vec<String>>) {
        let (first, last) = (path[0], path[path.len() - 1]);
        for next in &self.edges {
            if next.held.class != last.asked.class || !last.blocks(next) {
                continue;
            }
            let is_met = path.iter().any(|edge| edge.asked.class == next.asked.class);
            path.push(*next);
            if next.asked.class == first.held.class && next.blocks(&first) && are_nested(path) {
                rings.insert(
                    path.iter()
                        .map(|edge| CLASSES[edge.held.class].to_owned())
                        .collect(),
                );
            } else if next.asked.class > first.held.class && !is_met {
                self.close(path, rings);
            }
            path.pop();
        }
    }
}

/// Returns whether nested calls cause at least one of the edges.
fn are_nested(edges: &[Edge]) -> bool {
    edges.iter().any(|edge| edge.source == Source::Calls)
}

#[derive(PartialEq, Eq)]
enum Answer {
    Goes,
    Refused,
}

impl Edge {
    /// Returns whether the call of this edge waits for the holder of the other edge.
    fn blocks(&self, other: &Edge) -> bool {
        !(self.is_for_reading && other.is_shared)
    }
}

/// Writes no file of failures: each failure becomes a test of its own.
fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rings_are_the_same_as_an_exhaustive_search_finds(trees in vec(node(3), 1..7)) {
        runtime().block_on(async {
            let (client, mut oracle) = (LockClient::memory(), Oracle::default());
            for tree in trees {
                let expected = oracle.play(std::slice::from_ref(&tree), &mut Vec::new());
                prop_assert_eq!(play(client.clone(), vec![tree]).await, expected);
                let found = client.core().order.with(|graph| graph.reported_rings());
                prop_assert_eq!(found.unwrap(), oracle.rings());
            }
            Ok(())
        })?;
    }

    #[test]
    fn calls_that_close_a_ring_are_refused_if_that_is_denied(trees in vec(node(3).prop_map(with_bodies_of_one_lock), 1..9)) {
        runtime().block_on(async {
            let client = LockClient::memory();
            deny_lock_order(&client);
            let mut oracle = Oracle { refusals: Refusals::OfRings, ..Oracle::default() };
            let expected = oracle.play(&trees, &mut Vec::new());
            prop_assert_eq!(play(client, trees).await, expected);
            Ok(())
        })?;
    }
}
