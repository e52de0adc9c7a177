//! One visit to the resource.

use std::process;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;

use crate::history::{Entry, History};

/// The resource, ready for one visit.
#[derive(Clone)]
pub(crate) struct Visit {
    history: History,
    resource: MultiplexedConnection,
}

impl Visit {
    /// A visit to the resource that the lock `key` protects.
    pub(crate) fn new(key: &str, resource: &MultiplexedConnection) -> Self {
        Self {
            history: History::of(key),
            resource: resource.clone(),
        }
    }

    /// Reads and then writes, with the round trip in between for others to get in the way. False:
    /// a fenced resource refuses the write as stale.
    pub(crate) async fn make(mut self, token: u64) -> RedisResult<bool> {
        let seen = self.look(token).await?;
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
            writer: process::id().to_string(),
        };
        self.history.append(&mut self.resource, &entry).await
    }
}
