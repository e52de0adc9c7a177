//! Reads the locks of a server.

use std::time::Duration;

use lock_runtime::LockClient;
use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

use super::row::{Row, in_order};
use super::update::Update;
use crate::args::Watch;
use crate::connection::PAGE;
use crate::exit::Failure;

/// Reads all locks of the pattern.
pub(crate) async fn all(client: &LockClient, watch: &Watch) -> Result<Vec<Row>, Failure> {
    let mut locks = client.locks().page_size(PAGE);
    if let Some(pattern) = &watch.pattern {
        locks = locks.matching(pattern);
    }
    let mut rows = Vec::new();
    while let Some(page) = locks.next_page().await? {
        rows.extend(page.into_iter().map(Row::of));
    }
    Ok(in_order(rows))
}

/// Reads the locks with these keys. If one cannot be read, the others are returned anyway.
pub(crate) async fn some(client: &LockClient, keys: Vec<String>) -> Update {
    let mut looks = JoinSet::new();
    for key in keys {
        let client = client.clone();
        looks.spawn(async move {
            let lock = client.inspect(key.as_str()).await;
            lock.map(|lock| (key, Row::of_state(lock)))
        });
    }
    let (mut locks, mut failure) = (Vec::with_capacity(looks.len()), None);
    while let Some(look) = looks.join_next().await {
        match look {
            Ok(Ok(lock)) => locks.push(lock),
            Ok(Err(error)) => failure = Some(error.to_string()),
            Err(error) => failure = Some(error.to_string()),
        }
    }
    Update::Some { locks, failure }
}

/// The CPU time of this process so far.
pub(crate) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_takes_cpu_time() {
        let before = cpu_time();
        while cpu_time() == before {
            std::hint::spin_loop();
        }
        assert!(cpu_time() > before);
    }
}
