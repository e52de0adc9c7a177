//! The commands of one worker.

use std::time::Duration;

use redis::aio::MultiplexedConnection;

use super::hammer::{Hammer, hammer};
use super::idle;
use super::locks::{Held, Locks};
use super::visit::Visit;

/// A worker's client, its resource, and the lock that it holds between two commands.
pub(crate) struct Commands<L: Locks> {
    // None once it was shut down.
    locks: Option<L>,
    resource: MultiplexedConnection,
    held: Option<Holding<L::Held>>,
}

/// A lock that is held, and how far its visit has come.
struct Holding<H> {
    guard: H,
    visit: Visit,
    seen: usize,
}

/// What becomes of the worker after a command.
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
        }
    }

    /// Runs one command and says what comes next.
    ///
    /// # Panics
    ///
    /// On a command that does not exist or lacks something: the test is wrong.
    pub(crate) async fn run(&mut self, command: &str) -> Next {
        Next::Answer(match &command.split(' ').collect::<Vec<_>>()[..] {
            ["acquire", key, ttl, wait] => self.acquire(key, millis(ttl), millis(wait)).await,
            ["valid"] => self.held().guard.is_valid().to_string(),
            ["renew"] => answer(self.held().guard.renew().await),
            ["release"] => {
                let held = self.held.take().expect("a lock is held");
                answer(held.guard.release().await)
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
                let taken = taken.expect("the resource is there");
                if taken { "written" } else { "stale" }.to_owned()
            }
            ["hammer", key, ttl, wait, tasks, time] => {
                let plan = Hammer {
                    key: (*key).to_owned(),
                    ttl: millis(ttl),
                    wait: millis(wait),
                    tasks: tasks.parse().expect("tasks are a number"),
                    time: millis(time),
                };
                hammer(self.locks(), &self.resource, plan).await.to_string()
            }
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
            _ => panic!("no such command: {command}"),
        })
    }

    async fn acquire(&mut self, key: &str, ttl: Duration, wait: Duration) -> String {
        match self.locks().acquire(key, ttl, wait).await {
            Ok(guard) => {
                let token = guard.token();
                self.held = Some(Holding {
                    guard,
                    visit: Visit::new(key, &self.resource),
                    seen: 0,
                });
                format!("held {token}")
            }
            Err(words) => format!("failed {words}"),
        }
    }

    fn locks(&self) -> &L {
        self.locks.as_ref().expect("it was not shut down")
    }

    fn held(&mut self) -> &mut Holding<L::Held> {
        self.held.as_mut().expect("a lock is held")
    }
}

fn answer(result: Result<(), String>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(words) => format!("failed {words}"),
    }
}

fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a time is a number of milliseconds"))
}
