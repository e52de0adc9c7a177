//! The user and the password of a new connection.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use redis::RedisConnectionInfo;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::transport::block_on;
use crate::backend::wire::error::{Detail, WireError};
use crate::config::Options;
use crate::config::credentials::{Credentials, CredentialsError, CredentialsSource};
use crate::error::LockError;

/// How many threads may wait for the application at the same time. A callback that blocks for ever keeps its thread,
/// and without a limit each attempt to connect would block another one.
const MAX_THREADS: usize = 8;

/// The login of a client's connections.
pub(super) struct Login {
    of_url: RedisConnectionInfo,
    asked: Option<Asked>,
}

/// A source that is asked for the credentials of each connection.
struct Asked {
    source: CredentialsSource,
    threads: Arc<Semaphore>,
}

/// Checks the client's credentials against the URL's. Reads the credentials file, if there is one.
pub(super) fn check(of_url: &RedisConnectionInfo, options: &Options) -> Result<(), LockError> {
    let Some(source) = &options.credentials else {
        return Ok(());
    };
    // A user without a password has an empty one.
    if of_url
        .password()
        .is_some_and(|password| !password.is_empty())
    {
        return Err(LockError::invalid_options(
            "the URL has a password, and the client has credentials of its own: leave one of the two out",
        ));
    }
    source
        .check()
        .map_err(|reason| LockError::invalid_options(format!("{source} {reason}")))
}

impl Login {
    pub(super) fn new(of_url: RedisConnectionInfo, options: &Options) -> Login {
        Login {
            of_url,
            asked: options.credentials.clone().map(|source| Asked {
                source,
                threads: Arc::new(Semaphore::new(MAX_THREADS)),
            }),
        }
    }

    /// Returns the login for the connection that is being set up. Waits for the application, but no longer than
    /// `limit`.
    pub(super) async fn current(
        &self,
        limit: Duration,
    ) -> Result<Cow<'_, RedisConnectionInfo>, WireError> {
        let Some(asked) = &self.asked else {
            return Ok(Cow::Borrowed(&self.of_url));
        };
        // Boxed, since few clients need it.
        let (user, password) = Box::pin(asked.credentials(limit)).await?.into_parts();
        let mut login = self.of_url.clone().set_password(password);
        if let Some(user) = user {
            login = login.set_username(user);
        }
        Ok(Cow::Owned(login))
    }
}

impl Asked {
    /// Asks on a separate thread: the application's code may block, and the calling thread renews all leases.
    async fn credentials(&self, limit: Duration) -> Result<Credentials, WireError> {
        let asking = async {
            let thread = self.threads.clone().acquire_owned().await;
            let source = self.source.clone();
            spawn_blocking(move || {
                let _thread = thread;
                // The same limit, so that a callback that waits for ever releases its thread.
                block_on(timeout(limit, source.ask()))
            })
            .await
        };
        let source = &self.source;
        match timeout(limit, asking).await {
            Ok(Ok(Ok(Ok(credentials)))) => Ok(credentials),
            Ok(Ok(Ok(Err(error)))) => Err(WireError::Unavailable(describe(source, error))),
            Ok(Err(_)) => Err(WireError::unavailable(format!("{source} panicked"))),
            Ok(Ok(Err(_))) | Err(_) => Err(WireError::unavailable(format!(
                "{source} did not answer within {limit:?}"
            ))),
        }
    }
}

fn describe(source: &CredentialsSource, error: CredentialsError) -> Detail {
    match error {
        CredentialsError::File(reason) => Detail::from(format!("{source} {reason}")),
        CredentialsError::Callback(error) => {
            let text = error.to_string();
            let words: Vec<&str> = text.split_whitespace().collect();
            let detail = Detail::from(format!("{source} failed: {}", words.join(" ")));
            detail.caused_by(Arc::from(error))
        }
    }
}
