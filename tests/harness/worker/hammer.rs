//! Many tasks that want one lock.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use super::locks::{Call, Locks};
use super::visit::{Manner, Visit};

/// The plan of a hammer.
#[derive(Debug, Clone)]
pub(crate) struct Hammer {
    pub(crate) call: Call,
    pub(crate) tasks: usize,
    pub(crate) end: End,
}

/// When a task begins no further visits.
#[derive(Debug, Clone)]
pub(crate) enum End {
    After(Duration),
    /// When the resource has a key of this name.
    When(String),
}

impl End {
    async fn has_come(&self, start: Instant, resource: &mut MultiplexedConnection) -> bool {
        match self {
            End::After(time) => start.elapsed() >= *time,
            End::When(key) => {
                let exists = redis::cmd("EXISTS").arg(key).query_async(resource).await;
                exists.expect("the resource is there")
            }
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    visits: usize,
    failures: BTreeMap<String, usize>,
}

/// Visits the resource from many tasks, each visit under the lock, until the end of the plan.
pub(crate) async fn hammer(
    locks: &impl Locks,
    resource: &MultiplexedConnection,
    plan: Hammer,
) -> Tally {
    let mut tasks = JoinSet::new();
    for task in 0..plan.tasks {
        tasks.spawn(visit_again_and_again(
            locks.clone(),
            resource.clone(),
            plan.clone(),
            task,
        ));
    }
    let mut total = Tally::default();
    while let Some(tally) = tasks.join_next().await {
        total.add(tally.expect("no visit panics"));
    }
    total
}

async fn visit_again_and_again(
    locks: impl Locks,
    mut resource: MultiplexedConnection,
    plan: Hammer,
    task: usize,
) -> Tally {
    let mut tally = Tally::default();
    let start = Instant::now();
    while !plan.end.has_come(start, &mut resource).await {
        let visit = Visit::new(&plan.call.name, &resource, Manner::Brisk, locks.mode());
        match locks.run(&plan.call, visit.of_task(task)).await {
            Ok(Ok(_)) => tally.visits += 1,
            Ok(Err(_)) => tally.fail("Resource"),
            Err(words) => tally.fail(words.split(' ').next().unwrap_or_default()),
        }
    }
    tally
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
