//! Finds the primary: asks all sentinels in parallel.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::primary::{Named, Primary, choose, newest};
use super::sentinel_connection::SentinelConnection;
use super::sentinels::Sentinels;
use crate::backend::redis::transport::TransportEvent;
use crate::backend::wire::error::WireError;
use crate::background::Background;

/// How long the other sentinels may take after one has answered. A dead sentinel must not delay every connection, and
/// the next query picks up a late answer.
const SHARE: Duration = Duration::from_millis(250);

/// Asks the sentinels for the primary, on one connection to each, as often as an attempt to connect needs it.
pub(in crate::backend::redis) struct Finder {
    sentinels: Arc<Sentinels>,
    background: Background,
    /// The timeout of one query.
    patience: Duration,
    connections: Vec<Option<SentinelConnection>>,
}

impl Finder {
    /// Must be used on the background.
    pub(in crate::backend::redis) fn new(
        sentinels: Arc<Sentinels>,
        background: Background,
        patience: Duration,
    ) -> Finder {
        let connections = sentinels.addresses.iter().map(|_| None).collect();
        Finder {
            sentinels,
            background,
            patience,
            connections,
        }
    }

    /// Returns the primary, and the number of a sentinel that named it.
    pub(in crate::backend::redis) async fn find(&mut self) -> Result<(Primary, usize), WireError> {
        let answers = self.ask_all().await?;
        let Named { primary, by, .. } = choose(&answers).expect("one sentinel has answered");
        Ok((primary.clone(), *by))
    }

    /// Returns whether the sentinels name another primary than `current`.
    pub(super) async fn is_elsewhere(&mut self, current: &Primary) -> bool {
        match self.ask_all().await {
            Ok(answers) => {
                let newest = newest(&answers);
                newest.iter().all(|named| named.primary != *current)
            }
            Err(_) => false,
        }
    }

    /// Returns the answers, at least one. If all sentinels fail, a refusal explains more than an unreachable sentinel.
    async fn ask_all(&mut self) -> Result<Vec<Named>, WireError> {
        let mut asking = JoinSet::new();
        for (number, connection) in self.connections.iter_mut().enumerate() {
            let (sentinels, background) = (self.sentinels.clone(), self.background.clone());
            let (connection, patience) = (connection.take(), self.patience);
            let address = sentinels.addresses[number].to_string();
            asking.spawn(async move {
                let asked = ask(sentinels, number, connection, &background, patience);
                let silent = || WireError::unavailable(format!("the sentinel {address} is silent"));
                timeout(patience, asked)
                    .await
                    .unwrap_or_else(|_| Err(silent()))
            });
        }
        let mut answers = Vec::new();
        let mut failure = WireError::unavailable("no sentinel was asked");
        let mut enough: Option<Instant> = None;
        loop {
            let late = async {
                match enough {
                    Some(time) => sleep_until(time).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                asked = asking.join_next() => match asked {
                    Some(Ok(Ok((connection, named)))) => {
                        self.connections[named.by] = Some(connection);
                        answers.push(named);
                        enough.get_or_insert(Instant::now() + SHARE);
                    }
                    Some(Ok(Err(error))) => {
                        if !matches!(failure, WireError::Refused(_)) {
                            failure = error;
                        }
                    }
                    Some(Err(error)) => failure = WireError::unavailable(error.to_string()),
                    None => break,
                },
                () = late => break,
            }
        }
        match answers.iter().map(|named| named.epoch).max() {
            Some(epoch) => self.compare(epoch, answers),
            None => Err(failure),
        }
    }

    /// Returns the answers, unless they are older than the last ones. If all sentinels are behind, they were set up
    /// again, and their epochs started from zero.
    fn compare(&self, epoch: u64, answers: Vec<Named>) -> Result<Vec<Named>, WireError> {
        let seen = &self.sentinels.epoch;
        let is_stale = epoch < seen.load(Ordering::Relaxed);
        if is_stale && answers.len() < self.connections.len() {
            return Err(WireError::unavailable(
                "the sentinels that answer have missed a failover",
            ));
        }
        seen.store(epoch, Ordering::Relaxed);
        Ok(answers)
    }
}

async fn ask(
    sentinels: Arc<Sentinels>,
    number: usize,
    connection: Option<SentinelConnection>,
    background: &Background,
    patience: Duration,
) -> Result<(SentinelConnection, Named), WireError> {
    let connection = match connection {
        Some(connection) => connection,
        None => {
            let on_event = Box::new(|_: TransportEvent<'_>| {});
            SentinelConnection::open(sentinels, number, background, patience, on_event).await?
        }
    };
    let named = connection.named().await?;
    Ok((connection, named))
}
