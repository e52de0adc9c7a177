//! Takes a lock in each way that services take locks: free, contended, handed off, shared.

use std::cell::Cell;
use std::time::{Duration, Instant};

use lock_runtime::inspect::Answer;
use lock_runtime::{LockClient, LockError, LockGuard};
use tokio::time::sleep;

use super::finding::Finding;
use super::{advice, words};
use crate::args::{Connection, Kept};
use crate::rights::{Kind, Role};

/// The key of a lock that no service uses.
pub(super) const KEY: &str = "doctor";

/// How long the trial waits for the lock, which another doctor may have, and for what it has caused.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a record is read until it has changed.
const PAUSE: Duration = Duration::from_millis(5);

/// The place of the flag in a lock's record, after the owner.
const FLAG: usize = 22;

/// Returns whether a lock's record shows that clients wait for it.
fn is_queued(record: &str) -> bool {
    record.as_bytes().get(FLAG) == Some(&b'+')
}

/// The step that failed, and why.
struct Failed {
    what: &'static str,
    why: String,
}

/// Names the step in which an error occurred.
fn during(what: &'static str) -> impl FnOnce(LockError) -> Failed {
    move |error| Failed {
        what,
        why: error.to_string(),
    }
}

/// Takes a lock with two clients, as two services would.
pub(super) async fn finding(client: &LockClient, connection: &Connection) -> Finding {
    // A second client of its own: callers of one client queue in its process.
    let other = match connection.connect(&connection.operator()).await {
        Ok(other) => other,
        Err(failure) => {
            let why = failure.to_string();
            return failed("a second client cannot connect", &why);
        }
    };
    let trial = Trial {
        clients: [client, &other],
        connection,
    };
    let tried = trial.run().await;
    other.shutdown().await;
    match tried {
        Ok(shown) => Finding::ok("trial", shown),
        Err(Failed { what, why }) => failed(what, &why),
    }
}

fn failed(what: &str, why: &str) -> Finding {
    Finding::fail("trial", what).since(why, advice::of(why, Role::Service))
}

struct Trial<'a> {
    clients: [&'a LockClient; 2],
    connection: &'a Connection,
}

impl Trial<'_> {
    async fn run(&self) -> Result<&'static str, Failed> {
        let guard = self.take().await?;
        self.contend().await?;
        self.hand_off(guard).await?;
        let have_shares = self.connection.record == Kept::Native
            && Kind::of(&self.connection.url) != Kind::Quorum;
        if have_shares {
            self.share().await?;
        }
        self.look().await?;
        Ok(if have_shares {
            "a lock was taken, contended, handed off and shared, and is gone"
        } else {
            "a lock was taken, contended and handed off, and is gone"
        })
    }

    /// Takes the free lock, renews it and gives it a token.
    async fn take(&self) -> Result<LockGuard, Failed> {
        let lock = self.clients[0].lock(KEY).wait(PATIENCE);
        let guard = lock
            .acquire()
            .await
            .map_err(during("a lock cannot be taken"))?;
        guard
            .renew()
            .await
            .map_err(during("a lock cannot be renewed"))?;
        if self.connection.record == Kept::Native {
            let token = guard.fencing_token().await;
            token.map_err(during("a token cannot be minted"))?;
        }
        Ok(guard)
    }

    /// Asks for the lock while it is held.
    async fn contend(&self) -> Result<(), Failed> {
        let second = self.clients[1].lock(KEY).try_acquire().await;
        match second.map_err(during("a caller that finds the lock held is refused"))? {
            None => Ok(()),
            Some(_) => Err(Failed {
                what: "two callers had the lock at once",
                why: "its record was gone while it was held".to_owned(),
            }),
        }
    }

    /// Releases the lock while the other client waits for it.
    async fn hand_off(&self, guard: LockGuard) -> Result<(), Failed> {
        let is_over = Cell::new(false);
        let waiting = async {
            let mut lock = self.clients[1].lock(KEY).wait(2 * PATIENCE);
            if self.connection.record == Kept::Native {
                lock = lock.fenced();
            }
            let next = lock.acquire().await;
            is_over.set(true);
            next
        };
        let releasing = async {
            // A waiter for Redisson's record leaves no trace in it.
            if self.connection.record == Kept::Native {
                self.until(|records| {
                    is_over.get() || records.iter().any(|record| is_queued(record))
                })
                .await;
            }
            guard.release().await
        };
        let (next, released) = tokio::join!(waiting, releasing);
        released.map_err(during("a lock with a waiter cannot be released"))?;
        let next = next.map_err(during("a waiter does not get the lock"))?;
        let released = next.release().await;
        released.map_err(during("a lock cannot be released"))
    }

    /// Takes the lock with both clients for reading.
    async fn share(&self) -> Result<(), Failed> {
        let mut readers = Vec::new();
        for client in self.clients {
            let reader = client.lock(KEY).read().wait(PATIENCE).acquire().await;
            readers.push(reader.map_err(during("a lock cannot be shared"))?);
        }
        for reader in readers {
            let released = reader.release().await;
            released.map_err(during("a share cannot be released"))?;
        }
        Ok(())
    }

    /// Asserts that nothing is left of the lock.
    async fn look(&self) -> Result<(), Failed> {
        let is_gone = |records: &[String]| records.iter().all(String::is_empty);
        if self.until(is_gone).await {
            return Ok(());
        }
        Err(Failed {
            what: "the lock is still there after its release",
            why: "its record stays until its ttl, and callers find it busy".to_owned(),
        })
    }

    /// Waits until the servers' records of the lock are so, or until patience ends. A record that is not there is empty.
    /// Returns whether they are.
    async fn until(&self, are_so: impl Fn(&[String]) -> bool) -> bool {
        let started = Instant::now();
        while !are_so(&self.records().await) {
            if started.elapsed() >= PATIENCE {
                return false;
            }
            sleep(PAUSE).await;
        }
        true
    }

    /// Reads the records of the servers that have the lock's slot.
    async fn records(&self) -> Vec<String> {
        let name = format!("{}{KEY}", self.connection.prefix);
        let question = match self.connection.record {
            Kept::Native => words(&["GET", &name]),
            // Its record is no text.
            Kept::Redisson => words(&["TYPE", &name]),
        };
        let asked = self.clients[0].ask_servers(None, &[question]).await;
        let answers = asked.into_iter().flatten().filter_map(|server| {
            let answer = server.answers.ok()?.pop()?;
            match answer {
                Answer::Text(record) if record == "none" => Some(String::new()),
                Answer::Text(record) => Some(record),
                Answer::Nil => Some(String::new()),
                // Another node of the cluster has it.
                _ => None,
            }
        });
        answers.collect()
    }
}
