//! What all cases happen in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use harness::{LONG, Proxy, RedisServer, ask, ms, soon};
use lock_runtime::LockClient;
use redis::aio::MultiplexedConnection;

/// What is yet to come of what was dropped is there after this time.
const SETTLED: Duration = Duration::from_secs(1);

/// Visits that are made side by side, to see that all is well.
const TOGETHER: usize = 100;

/// A server whose clock stands still, and clients of it.
pub(crate) struct World {
    server: RedisServer,
    /// Whose acquisitions are dropped.
    pub(crate) one: LockClient,
    /// Who is in their way.
    pub(crate) other: LockClient,
    /// Whose acquisitions are dropped after a cut.
    pub(crate) far: LockClient,
    /// Passes no lease from one caller to the next.
    pub(crate) strict: LockClient,
    /// Between it and the server.
    pub(crate) proxy: Proxy,
    /// To look at the server.
    connection: MultiplexedConnection,
    keys: AtomicUsize,
}

impl World {
    pub(crate) async fn new() -> World {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        let proxy = Proxy::start(server.port());
        // What is cut off is cut off by the test: a machine that is slow to answer cuts nothing off.
        let builder = |url| LockClient::builder().url(url).command_timeout(LONG);
        let client = |url| builder(url).build().expect("the settings are valid");
        let strict = builder(server.url()).local_turns(1).build();
        World {
            one: client(server.url()),
            other: client(server.url()),
            strict: strict.expect("the settings are valid"),
            far: client(proxy.url()),
            connection: server.async_connection().await,
            proxy,
            server,
            keys: AtomicUsize::new(0),
        }
    }

    /// A key that nobody has used.
    pub(crate) fn key(&self) -> String {
        format!("key:{}", self.keys.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits until somebody queues for `key`.
    pub(crate) async fn queued(&self, key: &str) {
        let mut connection = self.connection.clone();
        let exists = redis::cmd("EXISTS")
            .arg(format!("{{lock:{key}}}:w"))
            .to_owned();
        soon(async {
            // Hundreds ask at once: not all the time.
            while exists.query_async(&mut connection).await != Ok(1) {
                tokio::time::sleep(ms(20)).await;
            }
        })
        .await;
    }

    /// How many of `keys` the server has ever granted.
    pub(crate) fn granted(&self, keys: &[String]) -> usize {
        let fences: Vec<String> = keys.iter().map(|key| format!("{{lock:{key}}}:f")).collect();
        let mut words = vec!["EXISTS"];
        words.extend(fences.iter().map(String::as_str));
        ask(&mut self.server.connection(), &words)
    }

    /// Waits until nothing is left but fences. Answers how long that took.
    ///
    /// However long the machine takes, as long as they become fewer: the server's clock stands still,
    /// so what nobody takes back is there for ever.
    pub(crate) async fn settles(&self) -> Duration {
        let start = Instant::now();
        let (mut least, mut since) = (usize::MAX, start);
        loop {
            let left = self.left().await;
            if left.is_empty() {
                return start.elapsed();
            }
            if left.len() < least {
                (least, since) = (left.len(), Instant::now());
            }
            if since.elapsed() >= LONG {
                panic!("{least} records are left: {left:#?}");
            }
            tokio::time::sleep(ms(5)).await;
        }
    }

    /// Sees that nothing comes back, and that every line of callers is open.
    pub(crate) async fn is_settled(&self, client: &LockClient, keys: &[String]) {
        tokio::time::sleep(SETTLED).await;
        assert_eq!(self.left().await, [""; 0], "records that came late");
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

    /// The names of all records that are no fences, of which there are thousands.
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
