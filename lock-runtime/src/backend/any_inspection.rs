//! Operators' commands, for either backend.

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::backend::any::{AnyBackend, each};
use crate::backend::memory::memory_inspection::wall_clock;
use crate::backend::watching::WatchReader;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Cursor, Line, Listing, RevokeOrder, RevokeReply};
use crate::backend::wire::notice::notice;
use crate::error::LockError;
use crate::key::{LockKey, RecordNames};
use crate::lease::RevokedBy;
use crate::state::{Answer, HolderRef, LocalHold, LockState, Run, ServerAnswers};

/// How long an operator waits for the name of a user that no login has named. A silent node must not delay a revocation.
const TO_NAME_THE_USER: Duration = Duration::from_millis(200);

impl AnyBackend {
    /// Makes a round trip to the servers, without writing.
    pub(crate) async fn probe(&self) -> Result<(), LockError> {
        self.check_process()?;
        each!(self,
            Memory(_) => Ok(()),
            Remote(remote) => remote.wire.probe().await.map_err(WireError::into_error)
        )
    }

    /// Returns the current state of a lock, and its server's time (µs).
    pub(crate) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => {
                let now = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
                Ok((memory.inspect(key), u64::try_from(now.as_micros()).unwrap_or(0)))
            },
            Remote(remote) => remote.wire.inspect(key, names).await.map_err(WireError::into_error)
        )
    }

    /// Begins to watch a lock: on servers by a question `every` so often.
    pub(crate) fn watch(
        &self,
        key: &LockKey,
        names: &RecordNames,
        every: Duration,
    ) -> Result<Arc<WatchReader>, LockError> {
        self.check_process()?;
        Ok(each!(self,
            Memory(memory) => memory.watch(key, names),
            Remote(remote) => remote.watch(key, names, every)
        ))
    }

    /// Waits until a watched lock may have changed.
    pub(crate) async fn watched(&self, key: &LockKey, reader: &WatchReader) {
        let AnyBackend::Memory(memory) = self else {
            return reader.added().await;
        };
        // Nobody decides anything when a lease ends whose holder does not run.
        let holders = memory.inspect(key).holders;
        let Some(left) = holders.iter().filter_map(|holder| holder.remaining).min() else {
            return reader.added().await;
        };
        tokio::select! {
            biased;
            () = reader.added() => {}
            () = self.sleep(left) => drop(memory.inspect(key)),
        }
    }

    /// Ends all watches.
    pub(crate) fn stop_watching(&self) {
        each!(self,
            Memory(memory) => memory.stop_watching(),
            Remote(remote) => remote.watched.close()
        );
    }

    /// Returns the runs of a lock, the last one first.
    pub(crate) async fn runs(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<Vec<Run>, LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => Ok(memory.runs(key)),
            Remote(remote) => remote.wire.runs(names).await.map_err(WireError::into_error)
        )
    }

    /// Returns the next locks of a listing. Dropping this at any await leaves the cursor where it was.
    pub(crate) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => Ok(memory.page(listing, cursor)),
            Remote(remote) => remote.wire.page(listing, cursor).await.map_err(WireError::into_error)
        )
    }

    /// Sends commands to each server, or to the named one. A memory client has none.
    pub(crate) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<ServerAnswers>, LockError> {
        self.check_process()?;
        each!(self,
            Memory(_) => Ok(Vec::new()),
            Remote(remote) => {
                let asked = remote.wire.ask_servers(server, commands).await.map_err(WireError::into_error)?;
                let servers = asked.into_iter().map(|(server, answers)| ServerAnswers {
                    server,
                    answers: answers.map_err(WireError::into_error),
                });
                Ok(servers.collect())
            }
        )
    }

    /// Returns the locks that this client holds. Sends nothing.
    pub(crate) fn held(&self) -> Vec<LocalHold> {
        each!(self, backend => backend.held())
    }

    /// Takes a lock from its holder.
    pub(crate) async fn revoke(
        &self,
        key: &LockKey,
        names: &RecordNames,
        reference: HolderRef,
        by: RevokedBy,
    ) -> Result<RevokeReply, LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => Ok(memory.revoke_holder(key, reference, by)),
            Remote(remote) => {
                let notice = notice(by.operation, &by.by, &by.reason);
                let order = RevokeOrder { reference, notice };
                remote.wire.revoke(names, &order).await.map_err(WireError::into_error)
            }
        )
    }

    /// Returns the user of the connection: the user that logged in, or else whom the server takes the client for, or else
    /// `default`. A memory client has none.
    pub(crate) async fn user(&self) -> String {
        let whoami = [["ACL", "WHOAMI"].map(str::to_owned).to_vec()];
        let asked = each!(self,
            Memory(_) => return String::new(),
            Remote(remote) => {
                if let Some(user) = remote.wire.user() {
                    return user;
                }
                let asking = self.ask_servers(None, &whoami);
                let until = Instant::now() + TO_NAME_THE_USER;
                remote.timers().timeout_at(until, asking).await
            }
        );
        let mut answers = asked
            .unwrap_or(Ok(Vec::new()))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|server| server.answers.ok()?.pop());
        let user = answers.find_map(|answer| match answer {
            Answer::Text(user) => Some(user),
            _ => None,
        });
        user.unwrap_or_else(|| "default".to_owned())
    }

    /// Appends a line to the audit in this stream.
    pub(crate) async fn append(&self, stream: &str, line: &Line) -> Result<(), LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => {
                memory.append(line);
                Ok(())
            },
            Remote(remote) => remote.wire.append(stream, line).await.map_err(WireError::into_error)
        )
    }

    /// Returns the next lines of the audit in this stream. Dropping this at any await leaves the cursor where it was.
    pub(crate) async fn lines(
        &self,
        stream: &str,
        since: Option<Duration>,
        cursor: &mut Cursor,
    ) -> Result<Vec<Line>, LockError> {
        self.check_process()?;
        each!(self,
            Memory(memory) => Ok(memory.lines(since, cursor)),
            Remote(remote) => {
                remote.wire.lines(stream, since, cursor).await.map_err(WireError::into_error)
            }
        )
    }

    /// Runs a task to its end, even if the caller goes away.
    pub(crate) async fn run_to_end<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, LockError>> + Send + 'static,
    ) -> Result<T, LockError> {
        each!(self,
            Memory(_) => task.await,
            Remote(remote) => remote.run_in_background(task).await?
        )
    }
}
