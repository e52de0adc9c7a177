//! One occurrence of a fault.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::arena::Arena;
use super::base_line;
use super::row::Row;
use super::site::Site;
use super::tally::Tally;
use super::violation::{Kind, Violation};
use crate::clock::Clock;
use crate::history::History;
use crate::proxy::Proxy;
use crate::quorum::RedisQuorum;
use crate::raw::RawLock;
use crate::scene::{LONG, SLACK, figure};
use crate::server::RedisServer;
use crate::stalls::ran_since;
use crate::wait::{PATIENCE, pause, wait_until};
use crate::worker::{self, Worker};

/// How far an acquire may exceed its `wait`: by one attempt.
const ATTEMPT: Duration = Duration::from_secs(1);

/// The processes of one round, and its findings so far.
#[allow(
    missing_debug_implementations,
    reason = "a redis-rs connection has no Debug"
)]
pub struct Round<'a, S: Site = RedisServer> {
    pub(super) arena: &'a Arena,
    /// A different number in each round of the row, from the seed on: for values that merely vary.
    pub number: usize,
    /// The variant of the row that is played, from 0. Rounds cycle through them.
    pub variant: usize,
    /// The key of the lock, which no other round uses.
    pub key: String,
    /// The server that has the lock, or the servers one of which has it.
    pub server: S,
    /// The lock's record on its server.
    pub lock: RawLock,
    // The processes that the round must inspect, and the proxies and clocks that they use.
    workers: RefCell<Vec<Worker>>,
    proxies: RefCell<Vec<Proxy>>,
    pub(super) granted: Option<u64>,
    // When the answer with the last token arrived.
    granted_at: Instant,
    slowest: Option<Duration>,
    window: Option<Duration>,
    violations: Vec<Violation>,
}

impl<'a, S: Site> Round<'a, S> {
    pub(super) fn new(arena: &'a Arena, server: S, turn: usize, row: &Row, key: String) -> Self {
        let lock = RawLock::new(server.server_of(&format!("lock:{key}")), &key);
        Self {
            arena,
            number: arena.seed() + turn,
            variant: turn % row.variants,
            key,
            server,
            lock,
            workers: RefCell::default(),
            proxies: RefCell::default(),
            granted: None,
            granted_at: Instant::now(),
            slowest: None,
            window: None,
            violations: Vec::new(),
        }
    }

    /// A process that uses locks on the server.
    pub fn worker(&self) -> Worker {
        self.worker_at(&self.server.url())
    }

    /// A process that uses locks at `url`.
    pub fn worker_at(&self, url: &str) -> Worker {
        self.worker_of_at(self.arena.kind(), url)
    }

    /// The same, for a row that promises nothing about the client's timeout.
    pub fn patient_worker_at(&self, url: &str) -> Worker {
        self.worker_at(&format!("{url} timeout={}", LONG.as_millis()))
    }

    /// A process that uses locks on a server that has much to do.
    pub fn patient_worker(&self) -> Worker {
        self.patient_worker_at(&self.server.url())
    }

    /// A proxy in front of one of the servers. It stays until all processes have ended.
    pub fn proxy_to(&self, server: &RedisServer) -> Proxy {
        let proxy = Proxy::start(server.port());
        self.proxies.borrow_mut().push(proxy.clone());
        proxy
    }

    /// Adds a process to the inspection at the end of the round, unless it has ended by then.
    fn inspected(&self, worker: Worker) -> Worker {
        self.workers.borrow_mut().push(worker.handle());
        worker
    }

    /// A process with a client of this kind.
    pub fn worker_of(&self, kind: worker::Kind) -> Worker {
        self.worker_of_at(kind, &self.server.url())
    }

    /// A process with a client of this kind that uses locks at `url`, perhaps behind a proxy.
    pub fn worker_of_at(&self, kind: worker::Kind, url: &str) -> Worker {
        self.inspected(self.arena.worker(kind, url, None))
    }

    /// A process that uses locks on the server, with this clock.
    pub fn worker_by(&self, clock: &Clock) -> Worker {
        let (kind, url) = (self.arena.kind(), self.server.url());
        self.inspected(self.arena.worker(kind, &url, Some(clock)))
    }

    /// A process that holds the lock.
    pub fn holder(&mut self, ttl: Duration) -> Worker {
        let worker = self.worker();
        self.hold(worker, ttl)
    }

    /// Makes this process acquire the lock.
    pub fn hold(&mut self, mut worker: Worker, ttl: Duration) -> Worker {
        self.ask(&mut worker, ttl, PATIENCE);
        self.granted(&worker);
        worker
    }

    /// A process that waits for the lock, behind all other waiters.
    pub fn waiter(&mut self, ttl: Duration) -> Worker {
        self.waiter_within(ttl, PATIENCE)
    }

    /// A process that waits this long for the lock, behind all other waiters.
    pub fn waiter_within(&mut self, ttl: Duration, wait: Duration) -> Worker {
        let worker = self.worker();
        self.queued(worker, ttl, wait)
    }

    /// Makes this process wait for the lock, behind all other waiters.
    pub fn queued(&mut self, mut worker: Worker, ttl: Duration, wait: Duration) -> Worker {
        let before = self.lock.queue().len();
        self.ask(&mut worker, ttl, wait);
        self.wait_for_queue(before + 1);
        worker
    }

    /// That many processes that wait for the lock, in any order, behind all other waiters.
    pub fn waiters(&mut self, count: usize, ttl: Duration) -> Vec<Worker> {
        let before = self.lock.queue().len();
        let mut workers: Vec<_> = (0..count).map(|_| self.worker()).collect();
        for worker in &mut workers {
            self.ask(worker, ttl, PATIENCE);
        }
        self.wait_for_queue(before + count);
        workers
    }

    /// Waits until that many waiters queue. Returns at once for clients without a queue.
    #[track_caller]
    pub fn wait_for_queue(&mut self, count: usize) {
        if self.arena.kind() == worker::Kind::Ours {
            wait_until("waiters in the queue", PATIENCE, || {
                self.lock.queue().len() == count
            });
        }
    }

    /// Sends the worker's request for the lock, without waiting for the answer.
    pub fn ask(&self, worker: &mut Worker, ttl: Duration, wait: Duration) {
        worker.send(&self.command("acquire", ttl, wait, ""));
    }

    /// Sends the worker's request for these locks together, without waiting for the answer.
    pub fn ask_for(&self, worker: &mut Worker, keys: &[&str], ttl: Duration) {
        worker.send(&command("acquire", &keys.join("+"), (ttl, PATIENCE), ""));
    }

    /// A worker's command about the lock.
    pub fn command(&self, verb: &str, ttl: Duration, wait: Duration, rest: &str) -> String {
        command(verb, &self.key, (ttl, wait), rest)
    }

    /// A process of each mode, with two tasks, visits the resource as often as it can, while
    /// `fault` is called repeatedly. Every process gets in, and none fails.
    pub fn hammer(
        &mut self,
        modes: &[&str],
        ttl: Duration,
        time: Duration,
        mut fault: impl FnMut(&mut Self),
    ) {
        // The start of the processes does not count: each has answered.
        let mut workers: Vec<_> = modes.iter().map(|mode| self.worker_in(mode)).collect();
        for worker in &mut workers {
            self.start_hammer(worker, ttl, time);
        }
        let started = Instant::now();
        while started.elapsed() < time {
            fault(self);
            pause(Duration::ZERO);
        }
        for worker in &workers {
            self.end_hammer(worker);
        }
    }

    /// Starts two tasks of the worker that visit the resource as often as they can.
    pub fn start_hammer(&self, worker: &mut Worker, ttl: Duration, time: Duration) {
        let rest = format!("2 {}", time.as_millis());
        worker.send(&self.command("hammer", ttl, PATIENCE, &rest));
    }

    /// Waits for the end of a hammer: the process got in, and no visit failed.
    #[track_caller]
    pub fn end_hammer(&self, worker: &Worker) {
        assert!(worker.hammered() > 0, "the process did not get in");
    }

    /// The token that the worker is granted, without a limit on its time.
    #[track_caller]
    pub fn granted(&mut self, worker: &Worker) -> u64 {
        let token = self.token(worker);
        // Without tokens there is no order to check.
        let fenced = self.arena.kind() == worker::Kind::Ours;
        if let Some(last) = self.granted.replace(token)
            && token <= last
            && fenced
        {
            self.violate(Kind::TokenOrder, format!("{token} granted after {last}"));
        }
        token
    }

    /// The token that the worker is granted.
    #[track_caller]
    pub(super) fn token(&mut self, worker: &Worker) -> u64 {
        let Some((at, answer)) = worker.line_at(PATIENCE + ATTEMPT) else {
            panic!("not granted: None")
        };
        self.granted_at = at;
        let token = answer
            .strip_prefix("held ")
            .and_then(|token| token.parse().ok());
        token.unwrap_or_else(|| panic!("not granted: {answer:?}"))
    }

    /// Like [`granted`](Self::granted), for the grant that follows a fault: at most `limit` after
    /// `since`, plus a margin for a loaded machine. The report shows how long it took.
    #[track_caller]
    pub fn granted_next(&mut self, worker: &Worker, since: Instant, limit: Duration) -> u64 {
        let token = self.granted(worker);
        self.time_of_grant(since, limit);
        token
    }

    /// The worker asks for the lock, and is granted it as in [`granted_next`](Self::granted_next).
    #[track_caller]
    pub fn comes(&mut self, worker: &mut Worker, ttl: Duration, since: Instant, limit: Duration) {
        self.ask(worker, ttl, PATIENCE);
        self.granted_next(worker, since, limit);
    }

    /// Records the time of a grant that has just arrived.
    pub(super) fn time_of_grant(&mut self, since: Instant, limit: Duration) {
        let took = ran_since(since);
        self.slowest = self.slowest.max(Some(took));
        if took > limit + SLACK {
            self.violate(Kind::LateGrant, format!("after {took:?}, not {limit:?}"));
        }
    }

    /// The worker acquires the lock. Checks that the answer arrives in time.
    #[track_caller]
    pub fn attempt(&mut self, worker: &mut Worker, ttl: Duration, wait: Duration) -> String {
        // The start of the process does not count.
        worker.ask("idle", PATIENCE);
        let asked = Instant::now();
        self.ask(worker, ttl, wait);
        let answer = worker.line(wait + PATIENCE).expect("an answer");
        let took = ran_since(asked);
        if took > wait + ATTEMPT + SLACK {
            let what = format!("after {took:?} with a wait of {wait:?}");
            self.violate(Kind::LateAnswer, what);
        }
        answer
    }

    /// The worker visits the resource under the lock that it holds.
    #[track_caller]
    pub fn visit(&self, worker: &mut Worker) {
        expect(worker, "look", "looked");
        expect(worker, "write", "written");
    }

    /// Whether the worker has written to the resource.
    pub fn has_written(&self, worker: &Worker) -> bool {
        let written = History::of(&self.key).read(&mut self.arena.register());
        let writer = worker.pid().to_string();
        written.iter().any(|entry| entry.process() == writer)
    }

    /// The holder [finishes](Self::finish), and the worker is let in.
    #[track_caller]
    pub fn pass(&mut self, holder: &mut Worker, next: &mut Worker, limit: Duration) {
        let released = self.finish(holder);
        self.let_in(next, released, limit);
    }

    /// The worker releases its lock. Checks that it held the lock to the end. Returns when it was
    /// asked.
    #[track_caller]
    pub fn release(&self, worker: &mut Worker) -> Instant {
        let told = Instant::now();
        expect(worker, "release", "ok");
        told
    }

    /// The worker visits the resource, and releases its lock.
    #[track_caller]
    pub fn finish(&self, worker: &mut Worker) -> Instant {
        self.visit(worker);
        self.release(worker)
    }

    /// The worker is granted the lock as in [`granted_next`](Self::granted_next), and
    /// [finishes](Self::finish).
    #[track_caller]
    pub fn let_in(&mut self, worker: &mut Worker, since: Instant, limit: Duration) {
        self.granted_next(worker, since, limit);
        self.finish(worker);
    }

    /// The worker [comes](Self::comes), and [finishes](Self::finish).
    #[track_caller]
    pub fn enters(&mut self, worker: &mut Worker, ttl: Duration, since: Instant, limit: Duration) {
        self.comes(worker, ttl, since, limit);
        self.finish(worker);
    }

    /// A former holder ends, without an effect on the present one.
    #[track_caller]
    pub fn replaced(&mut self, old: Worker, mut next: Worker) {
        self.retire(old);
        assert!(self.lock.is_held_by(&next), "the new holder was affected");
        self.release(&mut next);
    }

    /// Waits until the lock is free.
    #[track_caller]
    pub fn wait_until_free(&mut self) {
        wait_until("end of the lease", PATIENCE, || self.lock.value().is_none());
    }

    /// The worker acquires the lock as in [`attempt`](Self::attempt), and fails in this way.
    #[track_caller]
    pub fn refused(
        &mut self,
        worker: &mut Worker,
        (ttl, wait): (Duration, Duration),
        kind: &str,
    ) -> String {
        let answer = self.attempt(worker, ttl, wait);
        fails(&answer, kind);
        answer
    }

    /// The call in flight fails in this way.
    #[track_caller]
    pub fn call_fails(&self, worker: &Worker, kind: &str) -> String {
        let answer = worker.line(PATIENCE).expect("the call fails");
        fails(&answer, kind);
        answer
    }

    /// Waits until a holder knows that its lock is lost, and checks that its release frees nothing.
    #[track_caller]
    pub fn lost(&self, worker: &mut Worker) {
        hears_of_its_loss(worker, PATIENCE);
        let refused = worker.ask("release", PATIENCE);
        assert!(refused.starts_with("failed Lost "), "{refused}");
    }

    /// Like [`lost`](Self::lost), for a loss that the server reports before the lease ends at
    /// `end`. A holder that only watched its deadline would be too late, and report another reason.
    #[track_caller]
    pub fn told(&self, worker: &mut Worker, end: Instant) {
        hears_of_its_loss(worker, end.saturating_duration_since(Instant::now()));
        told_by_server(&worker.ask("release", PATIENCE));
    }

    /// Like [`told`](Self::told), for a body that would continue past `end`: it is dropped.
    #[track_caller]
    pub fn dropped(&self, worker: &Worker, end: Instant) {
        let rest = end.saturating_duration_since(Instant::now());
        told_by_server(
            &worker
                .line(rest)
                .expect("the call fails before its lease ends"),
        );
    }

    /// Waits until the body of a holder has ended, after another process was granted the lock. The
    /// report shows how long both of them had it: from one answer to the other, by the clock of
    /// this process.
    #[track_caller]
    pub fn ended_after_grant(&mut self, old: &Worker, limit: Duration) {
        let (ended, answer) = old.line_at(limit).expect("the call fails in time");
        assert!(answer.starts_with("failed Lost "), "{answer}");
        self.window = Some(ended.saturating_duration_since(self.granted_at));
    }

    /// Waits until this many channels have a subscriber.
    #[track_caller]
    pub fn wait_for_channels(&mut self, count: usize) {
        wait_until("subscribers", PATIENCE, || self.channels() == count);
    }

    /// The number of channels with a subscriber.
    pub fn channels(&mut self) -> usize {
        let channels: Vec<String> = self.lock.command(&["PUBSUB", "CHANNELS", "*"]);
        channels.len()
    }

    /// The number of the server's clients, the harness included.
    pub fn clients(&mut self) -> usize {
        let list: String = self.lock.command(&["CLIENT", "LIST"]);
        list.lines().count()
    }

    /// The number in the server's INFO under `name`; 0 if there is none.
    pub fn figure(&mut self, name: &str) -> u64 {
        figure(&mut *self.lock.connection, name)
    }

    /// The `n`th random number of this round, below `below`; it differs between rounds and seeds.
    pub fn any_number(&self, n: u64, below: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.number, n).hash(&mut hasher);
        hasher.finish() % below
    }

    /// Opens a new connection to the server after a restart.
    pub fn reconnect(&mut self) {
        self.lock = RawLock::new(self.server.server_of(&self.lock.k), &self.key);
    }

    /// Inspects the lock on this server from now on.
    pub fn look_at(&mut self, server: impl FnOnce(&S) -> &RedisServer) {
        self.lock = RawLock::new(server(&self.server), &self.key);
    }

    /// Ends a worker that holds nothing, and checks that it used no additional sockets or tasks.
    /// The end of the round does the same with the remaining workers.
    pub fn retire(&mut self, worker: Worker) {
        self.workers.borrow_mut().retain(|one| !one.is(&worker));
        if let Err(what) = base_line::of_worker(worker) {
            self.violate(Kind::LeftBehind, what);
        }
    }

    pub fn violate(&mut self, kind: Kind, what: String) {
        self.violations.push(Violation { kind, what });
    }

    /// The outcome of the round, and its site; `failure` is the panic of the script, if any.
    pub(super) fn end(mut self, row: &Row, turn: usize, failure: Option<String>) -> (Tally, S) {
        let workers = self.workers.take();
        match failure {
            // The state that a script leaves halfway proves nothing.
            Some(failure) => self.violate(Kind::Unexpected, failure),
            None => {
                let running = workers.into_iter().filter(Worker::is_running);
                running.for_each(|worker| self.retire(worker));
            }
        }
        let mut register = self.arena.register();
        let written = History::of(&self.key).read_written(&mut register);
        let fenced = self.arena.kind() == worker::Kind::Ours;
        let mut tally = Tally::of_round(row, turn, &written, fenced);
        let left = self.server.servers().into_iter();
        let left = left.filter_map(|server| base_line::of_server(server).err());
        for what in left.collect::<Vec<_>>() {
            self.violate(Kind::LeftBehind, what);
        }
        tally.slowest = self.slowest;
        tally.windows.extend(self.window);
        for Violation { kind, what } in self.violations {
            tally.violate(turn, kind, what);
        }
        (tally, self.server)
    }
}

impl Round<'_> {
    /// A proxy in front of the server.
    pub fn proxy(&self) -> Proxy {
        self.proxy_to(&self.server)
    }

    /// A process behind its own proxy.
    pub fn behind_a_proxy(&self) -> (Proxy, Worker) {
        let proxy = self.proxy();
        let worker = self.worker_at(&proxy.url());
        (proxy, worker)
    }
}

impl Round<'_, RedisQuorum> {
    /// A proxy in front of each node.
    pub fn proxies(&self) -> Vec<Proxy> {
        let nodes = self.server.nodes.iter();
        nodes.map(|node| self.proxy_to(node)).collect()
    }

    /// A process that uses the nodes behind these proxies.
    pub fn worker_through(&self, proxies: &[Proxy]) -> Worker {
        self.worker_at(&self.server.url_through(proxies))
    }
}

fn command(verb: &str, keys: &str, (ttl, wait): (Duration, Duration), rest: &str) -> String {
    let (ttl, wait) = (ttl.as_millis(), wait.as_millis());
    let command = format!("{verb} {keys} {ttl} {wait} {rest}");
    command.trim_end().to_owned()
}

#[track_caller]
fn fails(answer: &str, kind: &str) {
    let has_failed = answer.strip_prefix("failed ");
    let words = has_failed.and_then(|failed| failed.split_once(' '));
    assert_eq!(words.map(|(kind, _)| kind), Some(kind), "{answer}");
}

/// Waits until a holder knows that its lock is lost.
#[track_caller]
pub(crate) fn hears_of_its_loss(holder: &mut Worker, limit: Duration) {
    wait_until("report of the loss", limit, || {
        holder.ask("valid", PATIENCE) == "false"
    });
}

#[track_caller]
fn expect(worker: &mut Worker, command: &str, answer: &str) {
    assert_eq!(worker.ask(command, PATIENCE), answer, "to `{command}`");
}

/// The first reason for a loss is kept.
#[track_caller]
fn told_by_server(answer: &str) {
    let told = answer.starts_with("failed Lost ") && answer.contains("no record of it");
    assert!(told, "{answer}");
}
