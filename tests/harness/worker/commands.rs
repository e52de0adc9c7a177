//! The commands of one worker.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use std::{mem, process};

use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;

use super::hammer::{End, Hammer, hammer};
use super::locks::{Call, Held, Locks, Token};
use super::mode::Mode;
use super::visit::{Manner, Visit};
use super::{crowd, idle, runtimes};

/// A worker's client, its resource, and the locks that it holds between two commands.
pub(crate) struct Commands<L: Locks> {
    // None after a shutdown.
    locks: Option<L>,
    resource: MultiplexedConnection,
    held: Option<Holding<L::Held>>,
    many: Vec<L::Held>,
    // Acquires that are not being polled, each with the visit that will follow.
    begun: VecDeque<(Visit, Begun<L::Held>)>,
    releasing: Option<JoinHandle<Result<(), String>>>,
}

/// An acquire that was polled once.
type Begun<H> = Pin<Box<dyn Future<Output = Result<H, String>> + Send>>;

/// A lock that is held, and the progress of its visit.
struct Holding<H> {
    guard: H,
    visit: Visit,
    seen: usize,
}

/// What the worker does after a command.
pub(crate) enum Next {
    Answer(String),
    Leave,
}

impl<L: Locks> Commands<L> {
    pub(crate) fn new(locks: L, resource: MultiplexedConnection) -> Self {
        Self {
            locks: Some(locks),
            resource,
            held: None,
            many: Vec::new(),
            begun: VecDeque::new(),
            releasing: None,
        }
    }

    /// Runs one command and returns the next step.
    pub(crate) async fn run(&mut self, command: &str) -> Next {
        Next::Answer(match &command.split(' ').collect::<Vec<_>>()[..] {
            ["mode", mode @ ..] => {
                let locks = self.locks.take().expect("it was not shut down");
                self.locks = Some(locks.in_mode(Mode::parse(mode)));
                "ok".to_owned()
            }
            ["runs", runs] => {
                let locks = self.locks.take().expect("it was not shut down");
                self.locks = Some(locks.recording(runs.parse().expect("it is a number")));
                "ok".to_owned()
            }
            ["acquire", lock @ ..] => self.acquire(call(lock)).await,
            ["take", lock @ ..] => self.acquire(call(lock).with(Token::Never)).await,
            ["mint"] => {
                let minted = self.held().guard.mint().await;
                let token = self.held().guard.token();
                minted.map_or_else(
                    |words| format!("failed {words}"),
                    |()| format!("held {token}"),
                )
            }
            ["retain", lock @ .., time] => {
                let retain = millis(time);
                self.retain(Call {
                    retain,
                    ..call(lock)
                })
                .await
            }
            ["drop", lock @ .., micros] => self.drop_after(&call(lock), number(micros)).await,
            ["begin", lock @ ..] => self.begin(call(lock)).await,
            ["begin-fenced", lock @ ..] => self.begin(call(lock).with(Token::WithLock)).await,
            ["finish"] => {
                let (visit, acquire) = self.begun.pop_front().expect("one was begun");
                let outcome = acquire.await;
                self.keep(visit, outcome)
            }
            ["forget"] => {
                drop(self.begun.pop_front().expect("one was begun"));
                "forgotten".to_owned()
            }
            ["begin-release"] => {
                let held = self.held.take().expect("a lock is held");
                self.releasing = Some(tokio::spawn(held.guard.release()));
                "begun".to_owned()
            }
            ["finish-release"] => {
                let releasing = self.releasing.take().expect("one was begun");
                answer(releasing.await.expect("no release panics"))
            }
            ["stall", time] => {
                let (held, time) = (self.held.take().expect("a lock is held"), millis(time));
                // In its own task, which only the acquire wakes.
                let stalling = tokio::spawn(async move { (held.guard.stall(time).await, held) });
                let (outcome, held) = stalling.await.expect("it does not panic");
                self.held = Some(held);
                answer(outcome)
            }
            ["valid"] => self.held().guard.is_valid().to_string(),
            ["renew"] => answer(self.held().guard.renew().await),
            ["release"] => {
                let held = self.held.take().expect("a lock is held");
                answer(held.guard.release().await)
            }
            ["downgrade"] => {
                let Holding { guard, visit, .. } = self.held.take().expect("a lock is held");
                let outcome = guard.downgrade().await;
                self.keep(visit.of_reader(), outcome)
            }
            ["look"] => {
                let held = self.held();
                let seen = held.visit.look(held.guard.token()).await;
                held.seen = seen.expect("the resource is there");
                "looked".to_owned()
            }
            ["write"] => {
                let held = self.held();
                let taken = held.visit.write(held.guard.token(), held.seen).await;
                written(taken).to_owned()
            }
            ["run", key, ttl, wait, manner @ ..] => {
                let work = self.work(call(&[key, ttl, wait]), self::manner(manner));
                // A task contains the panic.
                ran(tokio::spawn(work).await.ok())
            }
            ["run-alone", key, ttl, wait, manner @ ..] => {
                let work = self.work(call(&[key, ttl, wait]), self::manner(manner));
                ran(runtimes::alone(work).await)
            }
            ["campaign", lock @ ..] => {
                let call = call(lock);
                let mode = self.locks().mode();
                let visit = Visit::new(&call.name, &self.resource, Manner::Persist, mode);
                self.locks().campaign(&call, visit).await
            }
            ["abandon", lock @ ..] => {
                let (locks, call) = (self.locks().clone(), call(lock));
                let acquire = async move { locks.acquire(&call).await };
                let words = runtimes::abandoned(acquire, grant).await;
                words.expect("no acquire panics")
            }
            ["hammer", lock @ .., tasks, time] => {
                let end = End::After(millis(time));
                self.hammer(call(lock), number(tasks), end).await
            }
            ["hammer-until", lock @ .., tasks, end] => {
                let end = End::When((*end).to_owned());
                self.hammer(call(lock), number(tasks), end).await
            }
            ["crowd", lock @ .., callers] => {
                crowd::crowd(self.locks(), &self.resource, &call(lock), number(callers)).await
            }
            ["cycle", lock @ .., times] => {
                answer(crowd::cycle(self.locks(), &call(lock), number(times)).await)
            }
            [many @ ("many" | "together"), lock @ .., count] => {
                let call = call(lock);
                let calls = (0..number(count)).map(|n| match *many {
                    "many" => Call::new(&format!("{}:{n}", call.name), call.ttl, call.wait),
                    _ => call.clone(),
                });
                let many = crowd::many(self.locks(), calls).await;
                answer(many.map(|many| self.many = many))
            }
            ["release-many"] => answer(crowd::release_all(mem::take(&mut self.many)).await),
            ["clock"] => idle::wall_clock().to_string(),
            ["idle"] => idle::figures(),
            ["shutdown"] => {
                let locks = self.locks.take().expect("it is shut down once");
                locks.shutdown().await;
                "ok".to_owned()
            }
            ["leave"] => {
                drop(self.held.take().expect("a lock is held"));
                return Next::Leave;
            }
            ["exit"] => process::exit(0),
            ["abort"] => process::abort(),
            _ => panic!("no such command: {command}"),
        })
    }

    async fn acquire(&mut self, call: Call) -> String {
        let outcome = self.locks().acquire(&call).await;
        self.keep(self.visit(&call.name), outcome)
    }

    /// Acquires and releases, and retains the lease for a time after the release.
    async fn retain(&self, call: Call) -> String {
        let outcome = self.locks().acquire(&call).await;
        let words = grant(&outcome);
        match outcome.map(L::Held::release) {
            Ok(releasing) => releasing.await.map_or_else(|failed| failed, |()| words),
            Err(_) => words,
        }
    }

    /// Polls an acquire once, and again only to finish it.
    async fn begin(&mut self, call: Call) -> String {
        let (locks, visit) = (self.locks().clone(), self.visit(&call.name));
        let mut acquire: Begun<L::Held> = Box::pin(async move { locks.acquire(&call).await });
        let polled = poll_fn(|cx| Poll::Ready(acquire.as_mut().poll(cx))).await;
        if let Poll::Ready(outcome) = polled {
            return self.keep(visit, outcome);
        }
        self.begun.push_back((visit, acquire));
        "begun".to_owned()
    }

    fn keep(&mut self, visit: Visit, outcome: Result<L::Held, String>) -> String {
        let words = grant(&outcome);
        if let Ok(guard) = outcome {
            self.held = Some(Holding {
                guard,
                visit,
                seen: 0,
            });
        }
        words
    }

    /// A visit to the resource that the lock `key` protects, in the mode of the calls.
    fn visit(&self, key: &str) -> Visit {
        Visit::new(key, &self.resource, Manner::Brisk, self.locks().mode())
    }

    async fn hammer(&self, call: Call, tasks: usize, end: End) -> String {
        let plan = Hammer { call, tasks, end };
        hammer(self.locks(), &self.resource, plan).await.to_string()
    }

    /// Drops an acquire that takes longer than this many microseconds, or the guard that it returned.
    async fn drop_after(&self, call: &Call, micros: usize) -> String {
        let limit = Duration::from_micros(u64::try_from(micros).expect("it is short"));
        let acquire = self.locks().acquire(call);
        match tokio::time::timeout(limit, acquire).await {
            Ok(outcome) => grant(&outcome),
            Err(_) => "dropped".to_owned(),
        }
    }

    /// One visit under the lock, for another task or runtime to make.
    fn work(
        &self,
        call: Call,
        manner: Manner,
    ) -> impl Future<Output = Result<RedisResult<bool>, String>> + Send + 'static {
        let visit = Visit::new(&call.name, &self.resource, manner, self.locks().mode());
        let locks = self.locks().clone();
        async move { locks.run(&call, visit).await }
    }

    fn locks(&self) -> &L {
        self.locks.as_ref().expect("it was not shut down")
    }

    fn held(&mut self) -> &mut Holding<L::Held> {
        self.held.as_mut().expect("a lock is held")
    }
}

fn grant<H: Held>(outcome: &Result<H, String>) -> String {
    match outcome {
        Ok(held) => format!("held {}", held.token()),
        Err(words) => format!("failed {words}"),
    }
}

fn answer(result: Result<(), String>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(words) => format!("failed {words}"),
    }
}

fn ran(outcome: Option<Result<RedisResult<bool>, String>>) -> String {
    match outcome {
        Some(Ok(taken)) => written(taken).to_owned(),
        Some(Err(words)) => format!("failed {words}"),
        None => "panicked".to_owned(),
    }
}

fn written(taken: RedisResult<bool>) -> &'static str {
    if taken.expect("the resource is there") {
        "written"
    } else {
        "stale"
    }
}

/// Parses a key, a ttl and a wait.
fn call(words: &[&str]) -> Call {
    match words {
        [key, ttl, wait] => Call::new(key, millis(ttl), millis(wait)),
        _ => panic!("a lock is a key, a ttl and a wait: {words:?}"),
    }
}

fn manner(words: &[&str]) -> Manner {
    match words {
        [] => Manner::Brisk,
        ["sleep", time] => Manner::Sleep(millis(time)),
        ["block", time] => Manner::Block(millis(time)),
        ["panic"] => Manner::Panic,
        ["persist"] => Manner::Persist,
        _ => panic!("no such manner: {words:?}"),
    }
}

fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a time is a number of milliseconds"))
}

fn number(text: &str) -> usize {
    text.parse().expect("it is a number")
}
