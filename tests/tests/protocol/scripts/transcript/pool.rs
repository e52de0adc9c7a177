//! Real servers that transcripts take turns with.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use harness::RedisServer;

/// Servers whose clocks stand still, shared by the tests that run. The last of these tests stops them.
#[derive(Default)]
struct Pool(Mutex<Vec<RedisServer>>);

/// A server from the pool, empty.
pub(crate) struct Pooled {
    server: Option<RedisServer>,
    pool: Arc<Pool>,
    /// It cannot be used again.
    pub(crate) is_spent: Cell<bool>,
}

/// A server whose clock stands still, without records.
pub(crate) fn pooled() -> Pooled {
    static POOL: Mutex<Weak<Pool>> = Mutex::new(Weak::new());
    let mut weak = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = weak.upgrade().unwrap_or_default();
    *weak = Arc::downgrade(&pool);
    drop(weak);
    let free = pool.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let server = free.unwrap_or_else(|| {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        server
    });
    let is_spent = Cell::new(false);
    Pooled {
        server: Some(server),
        pool,
        is_spent,
    }
}

impl Pooled {
    /// A server of one test alone.
    pub(crate) fn apart(server: RedisServer) -> Pooled {
        let (pool, is_spent) = (Arc::default(), Cell::new(true));
        Pooled {
            server: Some(server),
            pool,
            is_spent,
        }
    }
}

impl std::ops::Deref for Pooled {
    type Target = RedisServer;

    fn deref(&self) -> &RedisServer {
        self.server.as_ref().expect("it is released at the end")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let server = self.server.take().expect("it is released once");
        if self.is_spent.get() || std::thread::panicking() {
            return;
        }
        server.config_set("maxmemory", "0");
        let mut connection = server.connection();
        redis::cmd("FLUSHALL")
            .exec(&mut connection)
            .expect("it is the server's own");
        self.pool
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(server);
    }
}
