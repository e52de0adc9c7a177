//! The builder's settings for credentials that change.

use std::error::Error;
use std::future::Future;
use std::path::PathBuf;

use crate::client::builder::LockClientBuilder;
use crate::config::credentials::{Credentials, CredentialsSource};

/// # Credentials that change
///
/// For rotated passwords, and for cloud tokens that are valid for minutes. Credentials replace the password in the URL;
/// the URL's user is used unless the credentials name another one. If the URL also has a password, `build` fails with
/// `InvalidOptions`. With `memory://` credentials are ignored.
///
/// The client asks for them for every new connection: to the server, to each node of a cluster or a quorum, to a new
/// primary. A sentinel has [its own login](crate::docs::urls#parameters), in the URL. An existing connection is not
/// authenticated again. If the server closes it, because its token has expired or its user is gone, the client opens
/// another connection and confirms the held locks there.
///
/// While the credentials are not available, calls fail with [`Unavailable`](crate::LockErrorKind::Unavailable) when
/// their `wait` is over, as if the server were down; locks are held until their deadlines. If the server refuses the
/// credentials, calls fail at once with [`Rejected`](crate::LockErrorKind::Rejected), and the next call asks for
/// credentials again. So add a user's next password before it is used, and remove the last one later: a Redis user may
/// have several.
impl LockClientBuilder {
    /// Calls `callback` for the credentials of each new connection.
    ///
    /// The callback may block its thread, and runs inside a tokio runtime with I/O and timers. Tasks that it *spawns*
    /// run on the thread that renews leases, and must not block. It must complete within nine tenths of the
    /// [`command_timeout`](LockClientBuilder::command_timeout), with sentinels within nine tenths of two fifths of it,
    /// less the time that connecting took. After that its future is dropped. Callbacks may run concurrently, for the
    /// nodes of a cluster, and about ten times a second while a server fails: a callback that asks a service should
    /// cache a valid answer. [`build`](LockClientBuilder::build) does not call it.
    ///
    /// If it fails or panics, no connection is made. Its error becomes part of the text of the
    /// [`LockError`](crate::LockError), on one line, and its source, so it must not contain the password.
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

    /// Reads this file for each new connection.
    ///
    /// The file has one line, the password, or two: the user and the password. A line ending after the last line is
    /// ignored. [`build`](LockClientBuilder::build) also reads the file, and fails with `InvalidOptions` if that is not
    /// possible.
    ///
    /// Replace the file by renaming another one over it, as Kubernetes and Vault do: a file that is read while it is
    /// written may contain half a password.
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
