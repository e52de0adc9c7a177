//! Notices a failover while the old primary is still connected.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::finder::Finder;
use super::primary::Primary;
use super::sentinel_connection::SentinelConnection;
use super::sentinels::Sentinels;
use crate::backend::redis::transport::TransportEvent;
use crate::background::Background;

/// The pause between two queries. A query may reveal a failover a second before the event, and a lost subscription is
/// not reported.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a sentinel may take to answer before the next one is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// A background task, which ends when this is dropped.
pub(in crate::backend::redis) struct Watch {
    task: JoinHandle<()>,
    background: Background,
}

impl Watch {
    /// Begins a watch; `None` in a forked child.
    pub(in crate::backend::redis) fn begin(
        background: &Background,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<Watch> {
        let task = background.spawn(task)?;
        let background = background.clone();
        Some(Watch { task, background })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // In a forked child the task's mutexes may be locked for ever.
        if self.background.check_process().is_ok() {
            self.task.abort();
        }
    }
}

/// Completes when the sentinels name another primary than `current`. Asks one sentinel, at first the one with this
/// `number`, and the next one if it does not answer or was wrong.
pub(in crate::backend::redis) async fn until_elsewhere(
    sentinels: Arc<Sentinels>,
    current: Primary,
    mut number: usize,
    background: Background,
) {
    loop {
        if ask_until_elsewhere(&sentinels, &current, number, &background).await {
            let mut finder = Finder::new(sentinels.clone(), background.clone(), PATIENCE);
            if finder.is_elsewhere(&current).await {
                return;
            }
        }
        number = (number + 1) % sentinels.addresses.len();
        sleep(PAUSE).await;
    }
}

/// Asks one sentinel again and again. Returns `true` once it names another primary than `current`, `false` if it does
/// not answer or knows no primary.
async fn ask_until_elsewhere(
    sentinels: &Arc<Sentinels>,
    current: &Primary,
    number: usize,
    background: &Background,
) -> bool {
    let switched = Arc::new(Notify::new());
    let on_event = {
        let switched = switched.clone();
        // The next query notices a broken connection.
        Box::new(move |_: TransportEvent<'_>| switched.notify_one())
    };
    let opening = async {
        let sentinels = sentinels.clone();
        let opened =
            SentinelConnection::open(sentinels, number, background, PATIENCE, on_event).await;
        let connection = opened.ok()?;
        connection.subscribe().await.ok()?;
        Some(connection)
    };
    let Ok(Some(connection)) = timeout(PATIENCE, opening).await else {
        return false;
    };
    loop {
        match timeout(PATIENCE, connection.primary()).await {
            Ok(Ok(Some(primary))) if primary == *current => {}
            Ok(Ok(Some(_))) => return true,
            Ok(Ok(None) | Err(_)) | Err(_) => return false,
        }
        // The event only triggers a query, since it may be older than the connection to the primary.
        let _ = timeout(PAUSE, switched.notified()).await;
    }
}
