//! The builder's settings for credentials that change.

use std::error::Error;
use std::future::Future;
use std::path::PathBuf;

use crate::client::builder::LockClientBuilder;
use crate::config::credentials::{Credentials, CredentialsSource};

/// # Credentials that change
///
/// For passwords that are rotated, and for tokens of a cloud that are valid for minutes. In place of the password in
/// the URL, whose user stays unless the credentials name another one. A URL with a password beside them is
/// `InvalidOptions`. With `memory://` they are ignored.
///
/// They are asked for whenever a connection is made: to the server, to each node of a cluster or a quorum, to a new
/// primary. A sentinel has a [login of its own](crate#where-the-locks-are), in the URL. A connection that exists is
/// not logged in again. If the server closes it, because its token is over or its user is gone, the client makes another
/// one, and confirms the held locks there.
///
/// While the credentials cannot be had, calls are [`Unavailable`](crate::LockErrorKind::Unavailable) when their
/// `wait` is over, as if the server were away; locks are held until their deadlines. Credentials that the server refuses
/// are [`Rejected`](crate::LockErrorKind::Rejected) at once, and asked for again by the next call. So give a user the next
/// password before it is used, and take the last one away later: a Redis user may have several.
impl LockClientBuilder {
    /// Has `callback` asked for the credentials of each new connection.
    ///
    /// It runs on a thread that it may block, inside a tokio runtime with I/O and timers. Tasks that it *spawns* run on the
    /// thread that renews leases, and must not block. It has nine tenths of the
    /// [`command_timeout`](LockClientBuilder::command_timeout), less what it took to reach the server; with sentinels two
    /// fifths of that. Then it is dropped. Several may run at once, for nodes of a cluster, and up to some ten a second
    /// while a server fails: a callback that asks a service should keep its answer as long as it is valid. It is not
    /// asked by [`build`](LockClientBuilder::build).
    ///
    /// If it fails or panics, there is no connection. Its error is part of the text of the
    /// [`LockError`](crate::LockError), on one line, and is its source: it must not contain the password.
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::{Credentials, LockClient};
    ///
    /// # struct Tokens;
    /// # impl Tokens { async fn current(&self) -> Result<String, std::io::Error> { Ok("token".into()) } }
    /// # fn start(tokens: std::sync::Arc<Tokens>) -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::builder()
    ///     .url("redis://redis.internal")
    ///     .credentials(move || {
    ///         let tokens = tokens.clone();
    ///         async move { tokens.current().await.map(|token| Credentials::new("orders", token)) }
    ///     })
    ///     .build()?;
    /// # Ok(()) }
    /// ```
    pub fn credentials<F, A, E>(mut self, callback: F) -> LockClientBuilder
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.options.credentials = Some(CredentialsSource::callback(callback));
        self
    }

    /// Has this file read for each new connection.
    ///
    /// It has one line, the password, or two: the user and the password. An end of the last line does not count.
    /// [`build`](LockClientBuilder::build) reads it too, and fails with `InvalidOptions` if that is not possible.
    ///
    /// Replace it by renaming another file, as Kubernetes and Vault do: a file that is read while it is written may have
    /// half a password.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = lock_runtime::LockClient::builder()
    ///     .url("redis://orders@redis.internal")
    ///     .credentials_file("/run/secrets/redis")
    ///     .build()?;
    /// # Ok(()) }
    /// ```
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> LockClientBuilder {
        self.options.credentials = Some(CredentialsSource::File(path.into()));
        self
    }
}
