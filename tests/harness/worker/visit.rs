//! One visit to the resource.

use std::panic;
use std::process;
use std::time::Duration;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;

use super::mode::Mode;
use crate::history::{Entry, History};
use crate::shares::{READ, Share};
use crate::wait;

/// The resource, ready for one visit.
#[derive(Clone)]
pub(crate) struct Visit {
    history: History,
    resource: MultiplexedConnection,
    manner: Manner,
    share: Option<Share>,
    writer: String,
}

/// The action of a visit between reading and writing.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// Nothing: the round trip leaves enough time for other visits to interfere.
    Brisk,
    Sleep(Duration),
    /// The body blocks its thread.
    Block(Duration),
    Panic,
    /// The body reads and writes again and again, until it is dropped.
    Persist,
}

/// The time between two writes of a body that persists: short enough to be refused while another
/// process also has the lock.
const PAUSE: Duration = Duration::from_millis(5);

impl Visit {
    /// A visit to the resource that the lock `key` protects.
    pub(crate) fn new(
        key: &str,
        resource: &MultiplexedConnection,
        manner: Manner,
        mode: Mode,
    ) -> Self {
        Self {
            history: History::of(key),
            resource: resource.clone(),
            manner,
            share: mode.share(),
            writer: process::id().to_string(),
        }
    }

    /// The same visit by one of the process's tasks.
    pub(crate) fn of_task(mut self, task: usize) -> Self {
        self.writer = format!("{}.{task}", process::id());
        self
    }

    /// The same visit for a reader.
    pub(crate) fn of_reader(self) -> Self {
        let share = Some(READ);
        Self { share, ..self }
    }

    /// Reads and then writes. False: a fenced resource refuses the write as stale.
    pub(crate) async fn make(mut self, token: u64) -> RedisResult<bool> {
        let mut seen = self.look(token).await?;
        match self.manner {
            Manner::Brisk => {}
            Manner::Sleep(time) => tokio::time::sleep(time).await,
            Manner::Block(time) => wait::block(time),
            // Panics without a message on standard error.
            Manner::Panic => panic::resume_unwind(Box::new("as told")),
            Manner::Persist => loop {
                self.write(token, seen).await?;
                tokio::time::sleep(PAUSE).await;
                seen = self.look(token).await?;
            },
        }
        self.write(token, seen).await
    }

    /// The first half.
    pub(crate) async fn look(&mut self, token: u64) -> RedisResult<usize> {
        self.history.look(&mut self.resource, token).await
    }

    /// The second half.
    pub(crate) async fn write(&mut self, token: u64, seen: usize) -> RedisResult<bool> {
        let entry = Entry {
            token,
            seen,
            writer: self.writer.clone(),
            share: self.share,
        };
        self.history.append(&mut self.resource, &entry).await
    }
}
