//! Contenders for a quorum's lock in several processes are served in turn.

use std::collections::BTreeMap;
use std::mem;
use std::time::{Duration, Instant};

use harness::{Entry, History, KEY, LONG, RedisQuorum, RedisServer, Worker, ask, ms, wait_until};

const CONTENDERS: usize = 64;

/// The contenders are spread evenly over this many processes. The nodes know one caller of each process, which hands
/// the lock over to the others.
const PROCESSES: usize = 4;

/// How often each of them is served on average.
const ROUNDS: usize = 40;

/// The most rounds of all contenders that any one of them waits.
const LONGEST: usize = 5;

/// When the fault comes, in rounds of all contenders.
const FAULT: usize = 10;

/// Transfers per second while a node is away, as a share of the rate before; a busy machine slows both. If grants
/// waited for the silent node, the share would be a twentieth.
const SLOWEST: f64 = 0.2;

/// The key that ends the race.
const END: &str = "end";

#[test]
fn contenders_have_equal_shares_while_a_node_stops() {
    let turns = race(PROCESSES);
    turns.assert_fair();
}

/// The nodes know all of them: each is in a queue on every node.
#[test]
fn processes_with_a_contender_each_have_equal_shares_while_a_node_stops() {
    let turns = race(CONTENDERS);
    turns.assert_fair();
}

/// When the lock went from one contender to the next, as this process sees it.
struct Pace {
    looked: Instant,
    /// Grants at the last look.
    grants: usize,
    /// The time without a grant, at the last look and at most. If this process did not look for a while, only a short
    /// time counts: on a busy machine the contenders may not have run either.
    idle: Duration,
    longest: Duration,
}

impl Pace {
    /// The longest time without a grant: half the timeout of a command to a silent node.
    const GAP: Duration = ms(500);

    /// A longer pause between two looks counts as this one.
    const LOOK: Duration = ms(25);

    fn new() -> Pace {
        Pace {
            looked: Instant::now(),
            grants: 0,
            idle: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    fn look(&mut self, grants: usize) {
        let pause = mem::replace(&mut self.looked, Instant::now()).elapsed();
        self.idle += pause.min(Self::LOOK);
        if grants != self.grants {
            self.idle = Duration::ZERO;
        }
        self.grants = grants;
        self.longest = self.longest.max(self.idle);
    }
}

/// Makes all contenders take the lock again and again. A node stops after a quarter of the grants, which must not slow
/// them down; nor must the timeout of the commands to it.
fn race(processes: usize) -> Turns {
    let _alone = crate::ALONE.blocking_lock();
    let quorum = RedisQuorum::start();
    let resource = RedisServer::start();
    let urls = [quorum.url(), resource.admin_url()];
    let urls = urls.each_ref().map(String::as_str);
    let worker = |_| Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &urls);
    let mut workers: Vec<Worker> = (0..processes).map(worker).collect();
    let tasks = CONTENDERS / processes;
    for worker in &mut workers {
        worker.send(&format!("hammer-until {KEY} 30000 60000 {tasks} {END}"));
    }
    let (mut connection, history) = (resource.connection(), History::of(KEY));
    // Grants are counted when each contender has had one.
    let mut reach = |rounds: usize| {
        let (began, mut pace) = (Instant::now(), Pace::new());
        let mut first = None;
        wait_until("grants", LONG * 6, || {
            let grants = Turns::of(&history.read(&mut connection)).grants();
            first.get_or_insert(grants);
            pace.look(grants);
            grants >= CONTENDERS * rounds
        });
        let transfers = pace.grants - first.unwrap_or(0);
        (
            transfers as f64 / began.elapsed().as_secs_f64(),
            pace.longest,
        )
    };
    reach(1);
    let (before, _) = reach(FAULT);
    quorum.nodes[1].pause();
    let (after, longest) = reach(ROUNDS);
    println!("{before:.0} transfers/s, then {after:.0} and at most {longest:?} without one");
    assert!(after >= before * SLOWEST, "{after:.0} after {before:.0}/s");
    assert!(longest < Pace::GAP, "{longest:?} without a grant");
    ask::<()>(&mut connection, &["SET", END, "1"]);
    for worker in &workers {
        worker.hammered();
    }
    let entries = history.read(&mut connection);
    History::assert_exclusive(&entries);
    Turns::of(&entries)
}

/// How the contenders were served, once all take part.
#[derive(Debug)]
struct Turns {
    /// The number of grants of each contender.
    shares: Vec<usize>,
    /// The most grants to others while one contender waited.
    longest: usize,
}

impl Turns {
    fn of(entries: &[Entry]) -> Turns {
        // Each with the index of its last grant.
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
        let mut longest = 0;
        for (place, entry) in entries.iter().enumerate() {
            let is_counted = last.len() == CONTENDERS;
            let before = last.insert(&entry.writer, place);
            *shares.entry(&entry.writer).or_default() += usize::from(is_counted);
            if is_counted {
                let before = before.expect("all have been served");
                longest = longest.max(place - before);
            }
        }
        // The contenders that are still waiting.
        let waits = last.values().map(|before| entries.len() - before);
        Turns {
            longest: longest.max(waits.max().unwrap_or(0)),
            shares: shares.into_values().collect(),
        }
    }

    fn grants(&self) -> usize {
        self.shares.iter().sum()
    }

    /// Jain's index: 1 if all have the same share, 1/n if one of n has everything.
    fn jain(&self) -> f64 {
        let squares: usize = self.shares.iter().map(|share| share.pow(2)).sum();
        let square = self.grants().pow(2);
        square as f64 / (squares * self.shares.len()) as f64
    }

    #[track_caller]
    fn assert_fair(&self) {
        let (jain, longest) = (self.jain(), self.longest);
        println!("Jain {jain:.4}, longest wait {longest} grants of {CONTENDERS} contenders");
        assert_eq!(self.shares.len(), CONTENDERS);
        assert!(jain >= 0.99, "Jain {jain}: {self:?}");
        assert!(longest <= LONGEST * CONTENDERS, "{self:?}");
    }
}
