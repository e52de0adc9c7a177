//! The user, the password and the name of a new connection.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use redis::RedisConnectionInfo;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::transport::block_on;
use crate::backend::wire::error::{Detail, WireError};
use crate::background::sync::Mutex;
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
    /// The name of the connections in CLIENT LIST.
    name: Option<String>,
}

/// The login of one connection.
pub(super) struct CurrentLogin<'a> {
    info: Cow<'a, RedisConnectionInfo>,
    name: Option<&'a str>,
}

impl<'a> CurrentLogin<'a> {
    /// A login of the URL alone, for a connection without a name.
    pub(super) fn of_url(info: &'a RedisConnectionInfo) -> CurrentLogin<'a> {
        let info = Cow::Borrowed(info);
        CurrentLogin { info, name: None }
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.info.username()
    }

    pub(super) fn password(&self) -> Option<&str> {
        self.info.password()
    }

    pub(super) fn db(&self) -> i64 {
        self.info.db()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name
    }
}

/// Returns the name of a client with this label, as the server accepts it: without white space, in ASCII. The server refuses a
/// connection with another name.
fn name_of(label: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_graphic();
    let letters = label.chars();
    let name: String = letters
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect();
    Some(name).filter(|name| !name.is_empty())
}

/// A source that is asked for the credentials of each connection.
struct Asked {
    source: CredentialsSource,
    threads: Arc<Semaphore>,
    /// The user that it named last.
    user: Mutex<Option<String>>,
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
                user: Mutex::new(None),
            }),
            name: options.label.as_deref().and_then(name_of),
        }
    }

    /// Returns the user whom the last connection named; `None` if it named none. The server then knows who it is.
    pub(super) fn user(&self) -> Option<String> {
        let of_asked = self
            .asked
            .as_ref()
            .and_then(|asked| asked.user.lock().clone());
        of_asked.or_else(|| self.of_url.username().map(str::to_owned))
    }

    /// Returns the login for the connection that is being set up. Waits for the application, but no longer than
    /// `limit`.
    pub(super) async fn current(&self, limit: Duration) -> Result<CurrentLogin<'_>, WireError> {
        let name = self.name.as_deref();
        let Some(asked) = &self.asked else {
            return Ok(CurrentLogin {
                name,
                ..CurrentLogin::of_url(&self.of_url)
            });
        };
        // Boxed, since few clients need it.
        let (user, password) = Box::pin(asked.credentials(limit)).await?.into_parts();
        let mut login = self.of_url.clone().set_password(password);
        asked.user.lock().clone_from(&user);
        if let Some(user) = user {
            login = login.set_username(user);
        }
        let info = Cow::Owned(login);
        Ok(CurrentLogin { info, name })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_only_letters_that_a_server_accepts() {
        for (label, name) in [
            ("checkout@pod-7", Some("checkout@pod-7")),
            ("my shop@héte\u{7f}", Some("my-shop@h-te-")),
            ("", None),
        ] {
            assert_eq!(name_of(label).as_deref(), name);
        }
    }
}
