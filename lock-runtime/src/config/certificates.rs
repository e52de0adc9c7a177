//! The certificates for `rediss://`, as the application set them.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The CAs to trust, and the certificate to present.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    /// The CAs to trust instead of the system's, if there are any.
    pub(crate) authorities: Vec<Pem>,
    pub(crate) client: Option<Identity>,
}

/// A client's certificate, with its intermediate certificates, and its key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: Pem,
    pub(crate) key: Pem,
}

/// PEM text, or the file that contains it.
#[derive(Clone)]
pub(crate) enum Pem {
    Text(Arc<[u8]>),
    File(PathBuf),
}

impl Certificates {
    pub(crate) fn is_empty(&self) -> bool {
        self.authorities.is_empty() && self.client.is_none()
    }

    /// Returns whether any of these is in a file, whose contents may change while the process runs.
    pub(crate) fn has_files(&self) -> bool {
        let client = self.client.iter();
        let client = client.flat_map(|client| [&client.certificate, &client.key]);
        let mut all = self.authorities.iter().chain(client);
        all.any(|pem| matches!(pem, Pem::File(_)))
    }
}

impl Pem {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Pem {
        Pem::Text(text.as_ref().into())
    }

    pub(crate) fn read(&self) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Pem::Text(text) => Ok(Cow::Borrowed(text)),
            Pem::File(path) => std::fs::read(path).map(Cow::Owned),
        }
    }
}

impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pem::Text(_) => f.write_str("the PEM"),
            Pem::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The fields may include a private key.
        f.debug_struct("Certificates")
            .field("authorities", &self.authorities.len())
            .field("client", &self.client.is_some())
            .finish()
    }
}
