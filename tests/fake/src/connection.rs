//! A connection for redis-rs, without a socket.

use redis::{ConnectionLike, Parser, RedisResult, Value};

use crate::fake::FakeServer;
use crate::value::Bytes;

/// A connection to a [`FakeServer`].
///
/// Commands and replies are encoded and parsed as on a socket, so errors reach the caller as those of a real server do.
#[derive(Debug)]
pub struct FakeConnection {
    server: FakeServer,
}

impl FakeConnection {
    pub(crate) fn to(server: FakeServer) -> Self {
        Self { server }
    }

    /// Runs commands that are sent together.
    fn answer(&self, packed: &[u8], count: usize) -> RedisResult<Vec<Value>> {
        let mut commands = Parser::new();
        let mut rest = packed;
        let mut answer = || {
            let words = to_words(commands.parse_value(&mut rest)?);
            let mut encoded = Bytes::new();
            self.server.call(&words).write(&mut encoded);
            redis::parse_redis_value(&encoded)
        };
        (0..count).map(|_| answer()).collect()
    }
}

fn to_words(command: Value) -> Vec<Bytes> {
    let Value::Array(words) = command else {
        panic!("not a command: {command:?}");
    };
    let word = |word| match word {
        Value::BulkString(text) => text,
        other => panic!("not a word of a command: {other:?}"),
    };
    words.into_iter().map(word).collect()
}

impl ConnectionLike for FakeConnection {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        Ok(self.answer(packed, 1)?.swap_remove(0))
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let mut answers = self.answer(packed, offset + count)?;
        Ok(answers.split_off(offset))
    }

    fn get_db(&self) -> i64 {
        0
    }

    fn check_connection(&mut self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        true
    }
}
