//! Processes with locks in Redisson's record, and a stand-in for Redisson: only one is inside at a time, and each side
//! wakes the other.

use std::collections::BTreeSet;
use std::time::Duration;

use harness::{History, KEY, Kind, PATIENCE, Proxy, Version, Worker, ask, wait_until};
use redis::Connection;

use crate::scene::{Scene, acquire, acquire_within, is_held};

/// A lease that outlasts every test.
const LONG: Duration = Duration::from_secs(600);

/// The lease expires if its holder is killed. It is longer than a busy machine suspends a process.
const TTL: Duration = Duration::from_secs(5);

const CHANNELS: &str = "redisson_lock__channel:{lock:order:42}*";

/// Each version of Redisson's lock.
const VERSIONS: [Version; 3] = [Version::V3_5, Version::V4_7, Version::Fair];

impl Scene {
    /// A process with a client of this kind, as a user with all rights.
    fn worker_of(&self, kind: Kind) -> Worker {
        self.worker_of_at(kind, &self.server.admin_url())
    }

    fn worker_of_at(&self, kind: Kind, locks: &str) -> Worker {
        let resource = self.server.admin_url();
        let arguments = [locks, &resource, kind.name()];
        Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &arguments)
    }

    fn ours(&self) -> Worker {
        self.worker_of(Kind::InRedissonsRecord)
    }

    fn redisson(&self, version: Version) -> Worker {
        self.worker_of(Kind::Redisson(version))
    }

    /// Waits until a process listens for releases of the lock.
    fn wait_for_a_listener(&mut self) {
        wait_until("listener", PATIENCE, || {
            let channels: Vec<String> = self.lock.command(&["PUBSUB", "CHANNELS", CHANNELS]);
            !channels.is_empty()
        });
    }

    fn is_free(&mut self) -> bool {
        let key = self.lock.k.clone();
        self.lock.command::<i64>(&["EXISTS", &key]) == 0
    }
}

#[track_caller]
fn release(worker: &mut Worker) {
    assert_eq!(worker.ask("release", PATIENCE), "ok");
}

/// Redisson does not poll: without the message it would wait until a lease of ten minutes ends.
#[test]
fn each_side_excludes_the_other_is_named_and_enters_at_its_message() {
    for version in VERSIONS {
        let mut scene = Scene::new();
        let (mut ours, mut java) = (scene.ours(), scene.redisson(version));
        is_held(&java.ask(&acquire(LONG), PATIENCE));
        let busy = ours.ask(&acquire_within(LONG, Duration::ZERO), PATIENCE);
        let id = format!("00000000-0000-0000-0000-{:012}:", java.pid());
        let holder = format!("a Redisson client {id}");
        let is_named = busy.starts_with("failed Busy ") && busy.contains(&holder);
        assert!(is_named, "{busy}");
        release(&mut java);
        assert!(scene.is_free());

        let mut hand_over = |first: &mut Worker, second: &mut Worker| {
            for _ in 0..5 {
                is_held(&first.ask(&acquire(LONG), PATIENCE));
                second.send(&acquire(LONG));
                scene.wait_for_a_listener();
                release(first);
                is_held(&second.line(PATIENCE).expect("an answer"));
                release(second);
            }
        };
        hand_over(&mut ours, &mut java);
        hand_over(&mut java, &mut ours);
        // This comes last: a fair lock keeps the place of a caller that only tried for a while.
        is_held(&ours.ask(&acquire(LONG), PATIENCE));
        let busy = java.ask(&acquire_within(LONG, Duration::ZERO), PATIENCE);
        assert!(busy.starts_with("failed Busy "), "{busy}");
        release(&mut ours);
        assert!(scene.is_free());
    }
}

/// A message wakes one waiter of each process, and the next release wakes the next one.
#[test]
fn waiters_of_both_sides_are_all_served() {
    let mut scene = Scene::new();
    let mut holder = scene.ours();
    is_held(&holder.ask(&acquire(LONG), PATIENCE));
    let mut waiters: Vec<_> = [Version::V3_5, Version::V4_7]
        .into_iter()
        .flat_map(|version| [scene.redisson(version), scene.ours()])
        .collect();
    for waiter in &mut waiters {
        waiter.send(&format!("hammer {KEY} {} 60000 3 300", LONG.as_millis()));
    }
    scene.wait_for_a_listener();
    release(&mut holder);
    for waiter in &waiters {
        assert!(waiter.hammered() >= 3, "each of its waiters is served");
    }
    let entries = History::of(KEY).read(&mut scene.server.connection());
    History::assert_no_double_entries(&entries);
    assert!(scene.is_free());
}

/// Processes of both sides visit one resource. Holders and waiters are killed, and some of our processes send commands
/// twice, since their answers are cut off.
#[test]
fn crashes_and_repeated_commands_let_no_two_in() {
    const KILLS: usize = 4;
    const END: &str = "end";
    let scene = Scene::new();
    let proxy = Proxy::start(scene.server.port());
    let through = proxy.url().replace("redis://", &admin_of(&scene));
    let kinds = [
        Kind::InRedissonsRecord,
        Kind::Redisson(Version::V3_5),
        Kind::InRedissonsRecord,
        Kind::Redisson(Version::V4_7),
    ];
    let hammer = format!("hammer-until {KEY} {} 60000 2 {END}", TTL.as_millis());
    let start = |kind| {
        let mut worker = match kind {
            Kind::InRedissonsRecord => scene.worker_of_at(kind, &through),
            kind => scene.worker_of(kind),
        };
        worker.send(&hammer);
        worker
    };
    let mut workers = kinds.map(start);
    let (mut resource, history) = (scene.server.connection(), History::of(KEY));
    for kill in 0..KILLS {
        // One request that runs without an answer, and one that never arrives.
        proxy.cut_next_reply(KEY);
        every_worker_visits(&history, &mut resource, &workers);
        proxy.cut_next_request(KEY);
        every_worker_visits(&history, &mut resource, &workers);
        let victim = kill % workers.len();
        workers[victim].kill9();
        workers[victim] = start(kinds[victim]);
    }
    every_worker_visits(&history, &mut resource, &workers);
    ask::<()>(&mut resource, &["SET", END, "1"]);
    for worker in &workers {
        let tally = worker.line(PATIENCE * 2).expect("a tally");
        assert!(tally.starts_with("hammered "), "{tally}");
        assert!(
            !tally.contains("Lost") && !tally.contains("Rejected"),
            "{tally}"
        );
    }
    assert!(proxy.cuts() >= KILLS, "{} cuts", proxy.cuts());
    let entries = history.read(&mut resource);
    History::assert_no_double_entries(&entries);
    // Redisson's grants have no token.
    let tokens: Vec<_> = entries
        .iter()
        .map(|entry| entry.token)
        .filter(|&token| token > 0)
        .collect();
    assert!(tokens.is_sorted_by(|one, next| one < next), "tokens fall");
}

/// The part before the address in a URL of the harness's user.
fn admin_of(scene: &Scene) -> String {
    let url = scene.server.admin_url();
    let (user, _) = url.split_once('@').expect("it names a user");
    format!("{user}@")
}

/// Waits until every worker has visited since this call.
fn every_worker_visits(history: &History, resource: &mut Connection, workers: &[Worker]) {
    let seen = history.read(resource).len();
    let workers: BTreeSet<_> = workers
        .iter()
        .map(|worker| worker.pid().to_string())
        .collect();
    wait_until("visit of each process", PATIENCE * 3, || {
        visitors_from(history, resource, seen).is_superset(&workers)
    });
}

fn visitors_from(history: &History, resource: &mut Connection, seen: usize) -> BTreeSet<String> {
    let entries = history.read(resource).into_iter().skip(seen);
    entries.map(|entry| entry.process().to_owned()).collect()
}
