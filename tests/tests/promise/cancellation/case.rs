//! The situations in which an acquisition is dropped.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::{LONG, soon};
use lock_runtime::{LockClient, LockError, LockGuard};

use super::moment::Moment;
use super::world::World;

/// One situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// The lock is free.
    Free,
    /// Another client holds it.
    Held,
    /// It waits in Redis's queue, and the lock is just handed to it.
    Granted,
    /// Another call of its own client holds the lock.
    InLine,
    /// It waits in its client's local queue, and the lease was just passed to it.
    NextInLine,
    /// The same without local turns: the server is asked to hand the lock over.
    Named,
    /// Its own call tree holds the lock.
    Nested,
    /// Its own call tree holds the lock, with a sibling inside.
    BehindSibling,
    /// That sibling has just left.
    AfterSibling,
    /// The lock is free, and the connection was just cut.
    Cut,
    /// Another client holds the lock, it queues, and the connection was just cut.
    QueuedAndCut,
}

/// Whether an acquisition was dropped, or ended before that after a time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Dropped,
    Ended(Duration),
}

impl Case {
    pub(crate) const ALL: [Case; 11] = [
        Case::Free,
        Case::Held,
        Case::Granted,
        Case::InLine,
        Case::NextInLine,
        Case::Named,
        Case::Nested,
        Case::BehindSibling,
        Case::AfterSibling,
        Case::Cut,
        Case::QueuedAndCut,
    ];

    /// Whether the acquisition gets the lock unless it is dropped.
    pub(crate) fn ends(self) -> bool {
        !matches!(
            self,
            Case::Held | Case::InLine | Case::BehindSibling | Case::QueuedAndCut
        )
    }

    /// Whether the acquisition has to wait and is woken with the lock.
    pub(crate) fn is_woken(self) -> bool {
        self.ends() && !matches!(self, Case::NextInLine | Case::Nested | Case::AfterSibling)
    }

    /// Whether the lock has had no holder before.
    pub(crate) fn is_first(self) -> bool {
        matches!(self, Case::Free | Case::Cut)
    }

    /// The client whose acquisition is dropped.
    pub(crate) fn client(self, world: &World) -> &LockClient {
        match self {
            // A cut concerns all callers that share the connection, and many cases run at once: a
            // storm.
            Case::Cut | Case::QueuedAndCut => &world.far,
            Case::Named => &world.strict,
            _ => &world.one,
        }
    }

    /// Plays the case with each of `moments`, all at once, each on a key of its own. Returns keys and
    /// outcomes in the order of the moments.
    pub(crate) async fn play_all(
        self,
        world: &Arc<World>,
        moments: impl Iterator<Item = Moment>,
    ) -> Vec<(String, Outcome)> {
        let plays: Vec<_> = moments
            .map(|moment| {
                let (world, key) = (world.clone(), world.key());
                tokio::spawn(async move {
                    let outcome = self.play(&world, &key, moment).await;
                    (key, outcome)
                })
            })
            .collect();
        let mut outcomes = Vec::new();
        for play in plays {
            outcomes.push(play.await.expect("it plays to its end"));
        }
        outcomes
    }

    /// Begins an acquisition of `key` in this situation and drops it at `moment`.
    async fn play(self, world: &World, key: &str, moment: Moment) -> Outcome {
        let client = self.client(world);
        match self {
            Case::Free => cut(moment, acquire(client, key)).await,
            Case::Held => {
                let _held = hold(&world.other, key).await;
                cut(moment, acquire(client, key)).await
            }
            Case::Granted => {
                let held = hold(&world.other, key).await;
                let mut waiting = Box::pin(acquire(client, key));
                tokio::select! {
                    _ = &mut waiting => panic!("the lock is held"),
                    () = world.queued(key) => {}
                }
                drop(held);
                cut(moment, waiting).await
            }
            Case::InLine => {
                let _held = hold(client, key).await;
                cut(moment, acquire(client, key)).await
            }
            Case::NextInLine | Case::Named => {
                let held = hold(client, key).await;
                let mut waiting = Box::pin(acquire(client, key));
                let first = Moment::Polls(1).cut(&mut waiting).await;
                assert!(first.is_none(), "the lock is held");
                drop(held);
                cut(moment, waiting).await
            }
            Case::Nested | Case::BehindSibling | Case::AfterSibling => {
                let guard = hold(client, key).await;
                let body = async {
                    let outcome = self.play_nested(client, key, moment).await;
                    let again = soon(acquire(client, key)).await;
                    drop(again.expect("the sibling's place is free"));
                    outcome
                };
                let outcome = guard.run(body).await;
                guard.release().await.expect("the outer hold is untouched");
                outcome.expect("the outer hold is untouched")
            }
            Case::Cut => {
                world.proxy.kill_connections();
                cut(moment, acquire(client, key)).await
            }
            Case::QueuedAndCut => {
                let _held = hold(&world.other, key).await;
                let mut waiting = Box::pin(acquire(client, key));
                tokio::select! {
                    _ = &mut waiting => panic!("the lock is held"),
                    () = world.queued(key) => {}
                }
                world.proxy.kill_connections();
                cut(moment, waiting).await
            }
        }
    }

    async fn play_nested(self, client: &LockClient, key: &str, moment: Moment) -> Outcome {
        if self == Case::Nested {
            return cut(moment, acquire(client, key)).await;
        }
        let sibling = acquire(client, key).await.expect("the call tree holds it");
        if self == Case::BehindSibling {
            return cut(moment, acquire(client, key)).await;
        }
        let mut waiting = Box::pin(acquire(client, key));
        let first = Moment::Polls(1).cut(&mut waiting).await;
        assert!(first.is_none(), "the sibling is inside");
        drop(sibling);
        cut(moment, waiting).await
    }
}

impl Outcome {
    /// The time until it ended.
    pub(crate) fn time(&self) -> Option<Duration> {
        match self {
            Outcome::Dropped => None,
            Outcome::Ended(time) => Some(*time),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14}", format!("{self:?}"))
    }
}

/// Acquires the lock for the caller that stands in the way, on a free key.
async fn hold(client: &LockClient, key: &str) -> LockGuard {
    acquire(client, key).await.expect("the lock is free")
}

fn acquire(
    client: &LockClient,
    key: &str,
) -> impl Future<Output = Result<LockGuard, LockError>> + use<> {
    client.lock(key).wait(LONG).acquire()
}

async fn cut(
    moment: Moment,
    acquire: impl Future<Output = Result<LockGuard, LockError>>,
) -> Outcome {
    let start = Instant::now();
    match moment.cut(acquire).await {
        None => Outcome::Dropped,
        Some(acquired) => {
            let after = start.elapsed();
            drop(acquired.expect("nothing ends the wait"));
            Outcome::Ended(after)
        }
    }
}
