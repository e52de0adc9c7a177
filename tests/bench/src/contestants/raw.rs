//! The floor: the two commands of a hand-made lock, for a caller that knows that the lock is free.

use std::sync::Arc;

use harness::PATIENCE;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, Script, ScriptInvocation};

use super::{Contestant, TTL_MILLIS};

/// The usual compare-and-delete.
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

const OWNER: &str = "an-owner";

/// The name of its lock.
pub(crate) fn name(key: &str) -> String {
    format!("raw:{key}")
}

/// Acquires the lock of this name.
pub(crate) fn lock(name: &str) -> Cmd {
    let mut set = redis::cmd("SET");
    set.arg(name).arg(OWNER).arg("NX");
    set.arg("PX").arg(TTL_MILLIS);
    set
}

pub(crate) fn unlock_script() -> Script {
    Script::new(UNLOCK)
}

/// Releases it, by the [script](unlock_script).
pub(crate) fn unlock<'a>(script: &'a Script, name: &str) -> ScriptInvocation<'a> {
    let mut unlock = script.prepare_invoke();
    unlock.key(name).arg(OWNER);
    unlock
}

/// A longer response timeout than the default of half a second, for a busy machine.
pub(crate) fn patient() -> AsyncConnectionConfig {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE));
    config.set_response_timeout(Some(PATIENCE))
}

pub(crate) async fn connection(url: &str, config: AsyncConnectionConfig) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("the URL is well formed");
    let connection = client.get_multiplexed_async_connection_with_config(&config);
    connection.await.expect("the server accepts connections")
}

/// One round trip without work.
pub(crate) async fn ping(connection: &mut MultiplexedConnection) {
    let ping = redis::cmd("PING");
    ping.exec_async(connection)
        .await
        .expect("the server answers");
}

/// A connection on the runtime of its caller.
#[derive(Clone)]
pub(crate) struct Raw {
    connection: MultiplexedConnection,
    unlock: Arc<Script>,
}

impl Raw {
    pub(crate) async fn connect(url: &str) -> Raw {
        let mut connection = connection(url, patient()).await;
        let unlock = Arc::new(unlock_script());
        // A release that loads the script first would come after the next acquire, on a node whose
        // answer nobody awaits.
        unlock
            .prepare_invoke()
            .load_async(&mut connection)
            .await
            .expect("the server takes the script");
        Raw { connection, unlock }
    }
}

impl Contestant for Raw {
    type Held = String;

    async fn acquire(&self, key: &str) -> String {
        let name = name(key);
        let mut connection = self.connection.clone();
        let answer: Option<String> = lock(&name)
            .query_async(&mut connection)
            .await
            .expect("the server answers");
        assert!(answer.is_some(), "the lock is free");
        name
    }

    async fn release(&self, name: String) {
        let mut connection = self.connection.clone();
        let freed: i64 = unlock(&self.unlock, &name)
            .invoke_async(&mut connection)
            .await
            .expect("the server answers");
        assert_eq!(freed, 1, "it was held throughout");
    }
}
