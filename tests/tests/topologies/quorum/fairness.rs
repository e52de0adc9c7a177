//! Contenders in several processes are served in turn.

use std::collections::BTreeMap;

use harness::{
    Entry, History, KEY, LONG, PATIENCE, RedisQuorum, RedisServer, Worker, ask, wait_until,
};

const PROCESSES: usize = 4;

/// The tasks of each process that want the lock.
const TASKS: usize = 16;

const CONTENDERS: usize = PROCESSES * TASKS;

/// How often each of them is served on average.
const ROUNDS: usize = 20;

/// The most rounds of all contenders that one of them waits for.
const LONGEST: usize = 5;

/// The key that ends the race.
const END: &str = "end";

#[test]
fn contenders_of_several_processes_have_equal_shares() {
    let turns = race(|_| {});
    turns.assert_fair();
}

#[test]
fn contenders_have_equal_shares_while_a_node_stops() {
    let turns = race(|quorum| quorum.nodes[1].pause());
    turns.assert_fair();
}

/// Lets all contenders take the lock again and again. The fault comes when a third of the grants were made.
fn race(fault: impl FnOnce(&RedisQuorum)) -> Turns {
    let quorum = RedisQuorum::start();
    let resource = RedisServer::start();
    let urls = [quorum.url(), resource.admin_url()];
    let urls = urls.each_ref().map(String::as_str);
    let worker = |_| Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &urls);
    let mut workers: Vec<Worker> = (0..PROCESSES).map(worker).collect();
    for worker in &mut workers {
        worker.send(&format!("hammer-until {KEY} 30000 60000 {TASKS} {END}"));
    }
    let (mut connection, history) = (resource.connection(), History::of(KEY));
    let mut reach = |part: usize| {
        wait_until("grants", LONG * 6, || {
            Turns::of(&history.read(&mut connection)).grants() >= CONTENDERS * ROUNDS * part / 3
        });
    };
    reach(1);
    fault(&quorum);
    reach(3);
    ask::<()>(&mut connection, &["SET", END, "1"]);
    for worker in &workers {
        let tally = worker.line(PATIENCE * 2).expect("a tally");
        // A failure would stand behind the number.
        let visits = tally.strip_prefix("hammered ").map(str::parse::<usize>);
        assert!(matches!(visits, Some(Ok(_))), "{tally}");
    }
    let entries = history.read(&mut connection);
    History::assert_exclusive(&entries);
    Turns::of(&entries)
}

/// Who was served, from when all contenders take part.
#[derive(Debug)]
struct Turns {
    /// How often each was.
    shares: Vec<usize>,
    /// The most grants to others for which one of them waited.
    longest: usize,
}

impl Turns {
    fn of(entries: &[Entry]) -> Turns {
        // Each with the place of its last grant.
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
        // Those that still wait.
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
