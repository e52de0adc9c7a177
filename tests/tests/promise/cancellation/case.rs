//! The situations in which an acquisition is dropped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use harness::{LONG, soon};
use lock_runtime::{LockClient, LockError, LockGuard};

use super::asking::Asking;
use super::moment::Moment;
use super::world::World;

/// One situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// The lock is free.
    Free,
    /// Another client holds it.
    Held,
    /// It waits in Redis's queue, and the lock has just been handed to it.
    Granted,
    /// The same with another waiter behind it.
    GrantedBefore,
    /// Another call of its own client holds the lock.
    InLine,
    /// It waits in its client's local queue, and the lease has just been handed to it.
    NextInLine,
    /// The same without local turns: the server must hand the lock off.
    Named,
    /// Its own call tree holds the lock.
    Nested,
    /// Its own call tree holds the lock, with a sibling inside.
    BehindSibling,
    /// That sibling has just left.
    AfterSibling,
    /// The lock is free, and the connection has just been cut.
    Cut,
    /// Another client holds the lock, it queues, and the connection has just been cut.
    QueuedAndCut,
    /// No acquisition: a writer becomes a reader, and another client waits to read.
    Downgrade,
    /// The same, and the connection has just been cut.
    DowngradeAndCut,
}

/// Whether an acquisition was dropped, or ended before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Dropped,
    Ended,
}

impl Case {
    pub(crate) const ALL: [Case; 14] = [
        Case::Free,
        Case::Held,
        Case::Granted,
        Case::GrantedBefore,
        Case::InLine,
        Case::NextInLine,
        Case::Named,
        Case::Nested,
        Case::BehindSibling,
        Case::AfterSibling,
        Case::Cut,
        Case::QueuedAndCut,
        Case::Downgrade,
        Case::DowngradeAndCut,
    ];

    /// The cases that are played in every mode.
    pub(crate) fn is_of_every_mode(self) -> bool {
        !matches!(
            self,
            Case::Named
                | Case::BehindSibling
                | Case::AfterSibling
                | Case::Downgrade
                | Case::DowngradeAndCut
        )
    }

    /// Whether the acquisition gets the lock unless it is dropped.
    pub(crate) fn ends(self) -> bool {
        !matches!(
            self,
            Case::Held | Case::InLine | Case::BehindSibling | Case::QueuedAndCut
        )
    }

    /// Whether the acquisition must wait and is woken with the lock.
    pub(crate) fn is_woken(self) -> bool {
        self.ends() && !matches!(self, Case::NextInLine | Case::Nested | Case::AfterSibling)
    }

    /// The client whose acquisition is dropped.
    pub(crate) fn client(self, world: &World) -> &LockClient {
        match self {
            // A cut affects all callers that share the connection, and many cases run at once, so they get a client of
            // their own.
            Case::Cut | Case::QueuedAndCut | Case::DowngradeAndCut => &world.far,
            Case::Named => &world.strict,
            _ => &world.one,
        }
    }

    /// Plays the case with each of `moments`, all at once, each on a key of its own. Returns keys and outcomes in the
    /// order of the moments.
    pub(crate) async fn play_all(
        self,
        asking: Asking,
        world: &Arc<World>,
        moments: impl Iterator<Item = Moment>,
    ) -> Vec<(String, Outcome)> {
        let plays: Vec<_> = moments
            .map(|moment| {
                let (world, key) = (world.clone(), world.key((self, asking)));
                tokio::spawn(async move {
                    let outcome = self.play(asking, &world, &key, moment).await;
                    (key, outcome)
                })
            })
            .collect();
        let mut outcomes = Vec::new();
        for play in plays {
            outcomes.push(play.await.expect("the case does not panic"));
        }
        outcomes
    }

    /// Begins an acquisition of `key` in this situation and drops it at `moment`.
    async fn play(self, asking: Asking, world: &World, key: &str, moment: Moment) -> Outcome {
        let client = self.client(world);
        let contended = asking.contended(key);
        let outcome = match self {
            Case::Free => cut(moment, asking.acquire(client, key)).await,
            Case::Held => {
                let _held = hold(&world.other, &contended).await;
                cut(moment, asking.acquire(client, key)).await
            }
            Case::Granted | Case::GrantedBefore => {
                let held = hold(&world.other, &contended).await;
                let waiting = self.queued(asking, world, key).await;
                let mut behind = None;
                if self == Case::GrantedBefore {
                    let waiter = world.strict.lock(&contended[..]).wait(LONG).acquire();
                    behind = Some(tokio::spawn(waiter));
                    world.queued(&contended, 2).await;
                }
                drop(held);
                let outcome = cut(moment, waiting).await;
                asking.finish(world, key, outcome).await;
                if let Some(behind) = behind {
                    let served = soon(behind).await.expect("it does not panic");
                    drop(served.expect("the lock is free"));
                }
                return outcome;
            }
            Case::InLine => {
                let _held = hold(client, &contended).await;
                cut(moment, asking.acquire(client, key)).await
            }
            Case::NextInLine | Case::Named => {
                let held = hold(client, &contended).await;
                let mut waiting = Box::pin(asking.acquire(client, key));
                let first = Moment::Polls(1).cut(&mut waiting).await;
                assert!(first.is_none(), "the lock is held");
                drop(held);
                cut(moment, waiting).await
            }
            Case::Nested | Case::BehindSibling | Case::AfterSibling => {
                let guard = hold(client, key).await;
                let body = async {
                    let outcome = self.play_nested(asking, client, key, moment).await;
                    let again = soon(asking.acquire(client, key)).await;
                    drop(again.expect("the sibling's place is free"));
                    outcome
                };
                let outcome = guard.run(body).await;
                guard.release().await.expect("the outer hold is untouched");
                return outcome.expect("the outer hold is untouched");
            }
            Case::Cut => {
                world.proxy.kill_connections();
                cut(moment, asking.acquire(client, key)).await
            }
            Case::QueuedAndCut => {
                let _held = hold(&world.other, &contended).await;
                let waiting = self.queued(asking, world, key).await;
                world.proxy.kill_connections();
                cut(moment, waiting).await
            }
            Case::Downgrade | Case::DowngradeAndCut => {
                let held = hold(client, key).await;
                let reader = world.other.lock(key).read().wait(LONG).acquire();
                let reader = tokio::spawn(reader);
                world.queued(key, 1).await;
                if self == Case::DowngradeAndCut {
                    world.proxy.kill_connections();
                }
                let outcome = cut(moment, held.downgrade()).await;
                let served = soon(reader).await.expect("it does not panic");
                drop(served.expect("no writer is left"));
                outcome
            }
        };
        asking.finish(world, key, outcome).await;
        outcome
    }

    /// An acquisition that waits in Redis's queue.
    async fn queued(
        self,
        asking: Asking,
        world: &World,
        key: &str,
    ) -> Pin<Box<dyn Future<Output = Acquired> + Send>> {
        let mut waiting: Pin<Box<dyn Future<Output = Acquired> + Send>> =
            Box::pin(asking.acquire(self.client(world), key));
        let contended = asking.contended(key);
        tokio::select! {
            _ = &mut waiting => panic!("the lock is held"),
            () = world.queued(&contended, 1) => {}
        }
        waiting
    }

    async fn play_nested(
        self,
        asking: Asking,
        client: &LockClient,
        key: &str,
        moment: Moment,
    ) -> Outcome {
        if self == Case::Nested {
            return cut(moment, asking.acquire(client, key)).await;
        }
        let sibling = hold(client, key).await;
        if self == Case::BehindSibling {
            return cut(moment, asking.acquire(client, key)).await;
        }
        let mut waiting = Box::pin(asking.acquire(client, key));
        let first = Moment::Polls(1).cut(&mut waiting).await;
        assert!(first.is_none(), "the sibling is inside");
        drop(sibling);
        cut(moment, waiting).await
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14}", format!("{self:?}"))
    }
}

/// Acquires the lock for the caller in the way: the lock is free, or its call tree holds it.
async fn hold(client: &LockClient, key: &str) -> LockGuard {
    let acquired = Asking::Plain.acquire(client, key).await;
    acquired.expect("the lock is free")
}

type Acquired = Result<LockGuard, LockError>;

async fn cut(moment: Moment, acquire: impl Future<Output = Acquired>) -> Outcome {
    match moment.cut(acquire).await {
        None => Outcome::Dropped,
        Some(acquired) => {
            drop(acquired.expect("nothing ends the wait"));
            Outcome::Ended
        }
    }
}
