//! The floor: the two commands of a lock that is made by hand, for whoever is sure that it is free.

use std::sync::Arc;

use redis::Script;
use redis::aio::MultiplexedConnection;

use super::{Contestant, TTL};

/// Compare-and-delete, as everybody has it.
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

const OWNER: &str = "somebody";

/// It lives on the runtime of its caller, and so does its connection.
#[derive(Clone)]
pub(crate) struct Raw {
    connection: MultiplexedConnection,
    unlock: Arc<Script>,
}

impl Raw {
    pub(crate) async fn connect(url: &str) -> Raw {
        let client = redis::Client::open(url).expect("the URL is well formed");
        let connection = client.get_multiplexed_async_connection().await;
        Raw {
            connection: connection.expect("the server accepts connections"),
            unlock: Arc::new(Script::new(UNLOCK)),
        }
    }
}

impl Contestant for Raw {
    type Held = String;

    async fn acquire(&self, key: &str) -> String {
        let key = format!("raw:{key}");
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(OWNER).arg("NX").arg("PX");
        set.arg(u64::try_from(TTL.as_millis()).expect("it is short"));
        let mut connection = self.connection.clone();
        let answer: Option<String> = set
            .query_async(&mut connection)
            .await
            .expect("the server answers");
        assert!(answer.is_some(), "the lock is free");
        key
    }

    async fn release(&self, key: String) {
        let mut unlock = self.unlock.prepare_invoke();
        unlock.key(key).arg(OWNER);
        let mut connection = self.connection.clone();
        let freed: i64 = unlock
            .invoke_async(&mut connection)
            .await
            .expect("the server answers");
        assert_eq!(freed, 1, "it was held throughout");
    }

    fn token(_held: &String) -> u64 {
        0
    }
}
