//! A user and a password that the application provides for each new connection.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

/// A password and its user, as a [`LockClientBuilder::credentials`](crate::LockClientBuilder::credentials) callback
/// returns them. The `Debug` output does not show the password.
///
/// # Examples
///
/// ```
/// use lock_runtime::Credentials;
///
/// let shown = format!("{:?}", Credentials::new("orders", "s3cret"));
/// assert_eq!(shown, r#"Credentials { user: Some("orders"), .. }"#);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: Option<String>,
    password: String,
}

impl Credentials {
    /// Creates credentials from a user and its password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials {
            user: Some(user.into()),
            password: password.into(),
        }
    }

    /// Creates credentials from a password for the URL's user, or for the user `default` if the URL names none.
    pub fn password(password: impl Into<String>) -> Credentials {
        Credentials {
            user: None,
            password: password.into(),
        }
    }

    pub(crate) fn into_parts(self) -> (Option<String>, String) {
        (self.user, self.password)
    }

    /// Parses the contents of a file: the password, or two lines, the user and the password.
    fn parse(text: &str) -> Result<Credentials, &'static str> {
        let lines: Vec<&str> = text.lines().collect();
        match lines[..] {
            [] | [""] | [_, ""] => Err("has no password"),
            ["", _] => Err("begins with an empty line"),
            [password] => Ok(Credentials::password(password)),
            [user, password] => Ok(Credentials::new(user, password)),
            _ => Err("has more than two lines"),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// An error of the application's callback.
pub(crate) type CallbackError = Box<dyn Error + Send + Sync>;

type CredentialsFuture = Pin<Box<dyn Future<Output = Result<Credentials, CallbackError>> + Send>>;

/// The source of a client's credentials, if it is not the URL.
#[derive(Clone)]
pub(crate) enum CredentialsSource {
    Callback(Arc<dyn Fn() -> CredentialsFuture + Send + Sync>),
    File(PathBuf),
}

/// Why there are no credentials.
pub(crate) enum CredentialsError {
    /// The callback failed.
    Callback(CallbackError),
    /// The file cannot be used, for this reason: `cannot be read: …`.
    File(String),
}

impl CredentialsSource {
    pub(crate) fn callback<F, A, E>(callback: F) -> CredentialsSource
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<CallbackError>,
    {
        CredentialsSource::Callback(Arc::new(move || {
            let answer = callback();
            Box::pin(async move { answer.await.map_err(Into::into) })
        }))
    }

    /// Asks once. Reads a file on this thread.
    pub(crate) async fn ask(&self) -> Result<Credentials, CredentialsError> {
        match self {
            CredentialsSource::Callback(callback) => {
                callback().await.map_err(CredentialsError::Callback)
            }
            CredentialsSource::File(path) => read(path).map_err(CredentialsError::File),
        }
    }

    /// Reads a file for the first time, and returns the reason if it cannot be used. Does not call a callback, which
    /// waits for the first connection.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            CredentialsSource::Callback(_) => Ok(()),
            CredentialsSource::File(path) => read(path).map(|_| ()),
        }
    }
}

fn read(path: &Path) -> Result<Credentials, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    Credentials::parse(&text).map_err(str::to_owned)
}

/// Writes the source as the subject of a sentence.
impl fmt::Display for CredentialsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialsSource::Callback(_) => f.write_str("the callback for credentials"),
            CredentialsSource::File(path) => {
                write!(f, "the file {} of the credentials", path.display())
            }
        }
    }
}

impl fmt::Debug for CredentialsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialsSource::Callback(_) => f.write_str("Callback(..)"),
            CredentialsSource::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_a_password_or_a_user_and_a_password() {
        for text in ["s3 cret", "s3 cret\n", "s3 cret\r\n"] {
            assert!(Credentials::parse(text) == Ok(Credentials::password("s3 cret")));
        }
        for text in ["app\ns:3\n", "app\r\ns:3"] {
            assert!(Credentials::parse(text) == Ok(Credentials::new("app", "s:3")));
        }
    }

    #[test]
    fn file_without_a_password_is_refused() {
        for (text, reason) in [
            ("", "has no password"),
            ("\n", "has no password"),
            ("app\n\n", "has no password"),
            ("\nsecret\n", "begins with an empty line"),
            ("app\nsecret\nmore\n", "has more than two lines"),
            ("app\nsecret\n\n", "has more than two lines"),
        ] {
            assert!(Credentials::parse(text) == Err(reason), "{text:?}");
        }
    }

    #[test]
    fn nothing_that_prints_shows_a_password() {
        let callback = CredentialsSource::callback(async || {
            Ok::<_, CallbackError>(Credentials::password("p"))
        });
        assert_eq!(
            format!("{callback:?} {callback}"),
            "Callback(..) the callback for credentials"
        );
        let file = CredentialsSource::File("/run/redis".into());
        assert_eq!(format!("{file:?}"), "File(\"/run/redis\")");
        let shown = format!("{:?}", Credentials::password("s3cret"));
        assert_eq!(shown, "Credentials { user: None, .. }");
    }
}
