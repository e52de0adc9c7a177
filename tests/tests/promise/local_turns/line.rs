//! Callers that wait in the local queue.

use std::sync::{Arc, Mutex};

use harness::{KEY, LONG, soon, token_of};
use lock_runtime::LockClient;
use tokio::task::JoinSet;

/// The callers that had the lock, with their tokens, in this order.
#[derive(Clone, Default)]
pub(crate) struct Visits(Arc<Mutex<Vec<(String, u64)>>>);

impl Visits {
    pub(crate) fn note(&self, who: &str, token: u64) {
        self.0.lock().unwrap().push((who.to_owned(), token));
    }

    pub(crate) fn tokens(&self) -> Vec<u64> {
        let visits = self.0.lock().unwrap();
        visits.iter().map(|&(_, token)| token).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let visits = self.0.lock().unwrap();
        visits.iter().map(|(who, _)| who.clone()).collect()
    }
}

/// Tasks that wait in the local queue of one client, in the order of their creation, and record their visits.
pub(crate) struct Line(JoinSet<()>);

impl Line {
    /// Must be called on a runtime of one thread, and while the lock is held: all tasks are in the
    /// queue when this returns.
    pub(crate) async fn of(callers: usize, client: &LockClient, visits: &Visits) -> Line {
        let mut line = JoinSet::new();
        for number in 0..callers {
            let (acquire, visits) = (client.lock(KEY).wait(LONG).acquire(), visits.clone());
            line.spawn(async move {
                let guard = acquire.await.expect("its turn comes");
                visits.note(&number.to_string(), token_of(&guard).await.get());
                guard.release().await.expect("it was held throughout");
            });
        }
        tokio::task::yield_now().await;
        Line(line)
    }

    pub(crate) async fn served(self) {
        soon(self.0.join_all()).await;
    }
}
