//! The servers and clients of all cases.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use harness::{LONG, Proxy, RedisServer, ms, patient, soon};
use lock_runtime::LockClient;
use redis::aio::MultiplexedConnection;

/// By this time the commands of a dropped acquisition have arrived.
const SETTLED: Duration = Duration::from_secs(1);

/// Concurrent visits in the final check.
const TOGETHER: usize = 100;

/// A server whose clock stands still, and clients of it.
pub(crate) struct World {
    _server: RedisServer,
    /// The client whose acquisitions are dropped.
    pub(crate) one: LockClient,
    /// The client whose lock is in their way.
    pub(crate) other: LockClient,
    /// The client whose acquisitions are dropped after a cut.
    pub(crate) far: LockClient,
    /// A client without local turns.
    pub(crate) strict: LockClient,
    /// The proxy between `far` and the server.
    pub(crate) proxy: Proxy,
    /// A connection that inspects the server.
    connection: MultiplexedConnection,
    keys: AtomicUsize,
}

impl World {
    pub(crate) async fn new() -> World {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        let proxy = Proxy::start(server.port());
        // Only the test cuts connections: a slow machine must not cut one.
        let builder = |url| patient(url);
        let client = |url| builder(url).build().expect("the settings are valid");
        let strict = builder(server.url()).local_turns(1).build();
        World {
            one: client(server.url()),
            other: client(server.url()),
            strict: strict.expect("the settings are valid"),
            far: client(proxy.url()),
            connection: server.async_connection().await,
            proxy,
            _server: server,
            keys: AtomicUsize::new(0),
        }
    }

    /// A key that was never used. It names the case, for the message about a record that is left.
    pub(crate) fn key(&self, case: impl fmt::Debug) -> String {
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        format!("{case:?}:{number}")
    }

    /// Waits until this many waiters queue for `key`.
    pub(crate) async fn queued(&self, key: &str, waiters: i64) {
        let mut count = redis::cmd("ZCOUNT");
        count.arg(format!("{{lock:{key}}}:w")).arg(&[0, i64::MAX]);
        soon(self.becomes(&count, |queued: i64| queued == waiters)).await;
    }

    /// Waits until the lock of `key` is reserved, and deletes it.
    pub(crate) async fn delete_reserved(&self, key: &str) {
        let lock = format!("lock:{key}");
        let reserves =
            |value: Option<String>| value.is_some_and(|value| value.starts_with("rested"));
        self.becomes(redis::cmd("GET").arg(&lock), reserves).await;
        let mut connection = self.connection.clone();
        let mut delete = redis::cmd("DEL");
        let deleted = delete.arg(&lock).query_async(&mut connection).await;
        assert_eq!(deleted, Ok(1));
    }

    /// Waits until a query has the expected answer.
    async fn becomes<T: redis::FromRedisValue>(&self, query: &redis::Cmd, is: impl Fn(T) -> bool) {
        let mut connection = self.connection.clone();
        // Hundreds of tasks ask at once, so each pauses between two queries.
        while !query.query_async(&mut connection).await.is_ok_and(&is) {
            tokio::time::sleep(ms(20)).await;
        }
    }

    /// Waits until only fences are left and no record comes back, however long that takes, as long as the records
    /// become fewer. The server's clock stands still, so a record that the client does not remove stays for ever.
    pub(crate) async fn settles(&self) {
        let (mut least, mut since) = (usize::MAX, Instant::now());
        loop {
            let left = self.left().await;
            if left.is_empty() {
                break;
            }
            if left.len() < least {
                (least, since) = (left.len(), Instant::now());
            }
            if since.elapsed() >= LONG {
                panic!("{least} records are left: {left:#?}");
            }
            tokio::time::sleep(ms(5)).await;
        }
        tokio::time::sleep(SETTLED).await;
        assert_eq!(self.left().await, [""; 0], "records that came late");
    }

    /// Asserts that every local queue still works.
    pub(crate) async fn has_working_queues(&self, client: &LockClient, keys: &[String]) {
        // Thousands at once would wait for each other.
        for some in keys.chunks(TOGETHER) {
            let visits: Vec<_> = some
                .iter()
                .map(|key| client.lock(&key[..]).wait(LONG).acquire())
                .map(|acquire| tokio::spawn(async { acquire.await?.release().await }))
                .collect();
            for visit in visits {
                let visited = soon(visit).await.expect("it does not panic");
                visited.expect("the lock is free");
            }
        }
    }

    /// The names of all records except the fences, of which there are thousands.
    async fn left(&self) -> Vec<String> {
        let script = "local left = {}
            for _, key in ipairs(redis.call('KEYS', '*')) do
                if key:sub(-2) ~= ':f' then left[#left + 1] = key end
            end
            return left";
        let mut connection = self.connection.clone();
        let mut look = redis::cmd("EVAL");
        let left = look.arg(script).arg(0).query_async(&mut connection);
        left.await.expect("the server lists its keys")
    }
}
