//! The commands of one worker.

use std::process;
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockGuard};
use redis::aio::MultiplexedConnection;

use super::hammer::{Hammer, hammer};
use crate::history::{Entry, History};

/// A worker's client, its resource, and the lock that it holds between two commands.
pub(crate) struct Commands {
    client: LockClient,
    resource: MultiplexedConnection,
    held: Option<LockGuard>,
}

/// What becomes of the worker after a command.
pub(crate) enum Next {
    Answer(String),
    Leave,
}

impl Commands {
    pub(crate) fn new(client: LockClient, resource: MultiplexedConnection) -> Self {
        Self {
            client,
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
            ["valid"] => self.guard().is_valid().to_string(),
            ["renew"] => answer(self.guard().renew().await),
            ["release"] => {
                let guard = self.held.take().expect("a lock is held");
                answer(guard.release().await)
            }
            ["visit", "plain"] => self.visit(History::unfenced(self.guard().key())).await,
            ["visit", "fenced"] => self.visit(History::fenced(self.guard().key())).await,
            ["hammer", key, ttl, wait, tasks, time] => {
                let plan = Hammer {
                    key: (*key).to_owned(),
                    ttl: millis(ttl),
                    wait: millis(wait),
                    tasks: tasks.parse().expect("tasks are a number"),
                    time: millis(time),
                };
                hammer(&self.client, &self.resource, plan).await.to_string()
            }
            ["leave"] => {
                drop(self.held.take().expect("a lock is held"));
                return Next::Leave;
            }
            _ => panic!("no such command: {command}"),
        })
    }

    async fn acquire(&mut self, key: &str, ttl: Duration, wait: Duration) -> String {
        match self.client.lock(key).ttl(ttl).wait(wait).acquire().await {
            Ok(guard) => {
                let token = guard.fencing_token();
                self.held = Some(guard);
                format!("held {token}")
            }
            Err(error) => failed(&error),
        }
    }

    async fn visit(&mut self, history: History) -> String {
        let token = self.guard().fencing_token().get();
        let seen = history
            .look(&mut self.resource)
            .await
            .expect("the resource is there");
        let entry = Entry {
            token,
            seen,
            writer: process::id().to_string(),
        };
        let written = history.append(&mut self.resource, &entry).await;
        if written.expect("the resource is there") {
            "written"
        } else {
            "stale"
        }
        .to_owned()
    }

    fn guard(&self) -> &LockGuard {
        self.held.as_ref().expect("a lock is held")
    }
}

fn answer(result: Result<(), LockError>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &LockError) -> String {
    format!("failed {:?} {error}", error.kind())
}

fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a time is a number of milliseconds"))
}
