//! Many tasks that want one lock.

use std::collections::BTreeMap;
use std::fmt;
use std::process;
use std::time::{Duration, Instant};

use lock_runtime::LockClient;
use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::history::{Entry, History};

/// What to do.
#[derive(Debug, Clone)]
pub(crate) struct Hammer {
    pub(crate) key: String,
    pub(crate) ttl: Duration,
    pub(crate) wait: Duration,
    pub(crate) tasks: usize,
    pub(crate) time: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    visits: usize,
    failures: BTreeMap<String, usize>,
}

/// Visits the resource from many tasks, each visit under the lock, until the time is over.
pub(crate) async fn hammer(
    client: &LockClient,
    resource: &MultiplexedConnection,
    plan: Hammer,
) -> Tally {
    let mut tasks = JoinSet::new();
    for _ in 0..plan.tasks {
        tasks.spawn(visit_again_and_again(
            client.clone(),
            resource.clone(),
            plan.clone(),
        ));
    }
    let mut total = Tally::default();
    while let Some(tally) = tasks.join_next().await {
        total.add(tally.expect("no visit panics"));
    }
    total
}

async fn visit_again_and_again(
    client: LockClient,
    resource: MultiplexedConnection,
    plan: Hammer,
) -> Tally {
    let history = History::unfenced(&plan.key);
    let mut tally = Tally::default();
    let start = Instant::now();
    while start.elapsed() < plan.time {
        let acquire = client.lock(&plan.key[..]).ttl(plan.ttl).wait(plan.wait);
        let visit = async |guard: &lock_runtime::LockGuard| {
            visit(&history, resource.clone(), guard.fencing_token().get()).await
        };
        match acquire.run(visit).await {
            Ok(Ok(())) => tally.visits += 1,
            Ok(Err(_)) => tally.fail("Resource"),
            Err(error) => tally.fail(&format!("{:?}", error.kind())),
        }
    }
    tally
}

/// Reads and then writes, with the round trip in between for others to get in the way.
async fn visit(
    history: &History,
    mut resource: MultiplexedConnection,
    token: u64,
) -> RedisResult<()> {
    let seen = history.look(&mut resource).await?;
    let entry = Entry {
        token,
        seen,
        writer: process::id().to_string(),
    };
    history.append(&mut resource, &entry).await?;
    Ok(())
}

impl Tally {
    fn fail(&mut self, kind: &str) {
        *self.failures.entry(kind.to_owned()).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        self.visits += other.visits;
        for (kind, count) in other.failures {
            *self.failures.entry(kind).or_default() += count;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hammered {}", self.visits)?;
        for (kind, count) in &self.failures {
            write!(f, " {kind}={count}")?;
        }
        Ok(())
    }
}
