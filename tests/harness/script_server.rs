//! A server as scripts need it: a real one, or one that a test brings.

use std::time::Duration;

use redis::{ConnectionLike, Value};

use crate::raw::Listener;
use crate::server::RedisServer;
use crate::wait::PATIENCE;

/// Runs scripts, and has a clock that the test moves.
pub trait ScriptServer {
    fn connect(&self) -> Box<dyn ConnectionLike + Send>;

    /// Subscribes by SUBSCRIBE or PSUBSCRIBE.
    fn listen(&self, command: &str, channel: &str) -> Listener;

    /// The time that its clock shows, in µs since 1970.
    fn time(&self) -> i64;

    fn forward(&self, by: Duration);

    fn back(&self, by: Duration);

    /// Makes it refuse commands that need memory, until they are allowed again.
    fn set_full(&self, is_full: bool);
}

impl ScriptServer for RedisServer {
    fn connect(&self) -> Box<dyn ConnectionLike + Send> {
        Box::new(self.connection())
    }

    fn listen(&self, command: &str, channel: &str) -> Listener {
        let mut connection = self.connection();
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket takes a timeout");
        let subscribe = redis::cmd(command).arg(channel).get_packed_command();
        connection
            .send_packed_command(&subscribe)
            .expect("the server reads");
        let mut next = move || -> Value { connection.recv_response().expect("a push arrives") };
        // The confirmation.
        next();
        Listener::new(next)
    }

    fn time(&self) -> i64 {
        self.clock().now()
    }

    fn forward(&self, by: Duration) {
        RedisServer::forward(self, by);
    }

    fn back(&self, by: Duration) {
        RedisServer::back(self, by);
    }

    fn set_full(&self, is_full: bool) {
        self.config_set("maxmemory", if is_full { "1" } else { "0" });
    }
}
