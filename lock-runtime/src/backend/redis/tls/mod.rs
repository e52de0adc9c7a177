//! Encrypts connections.
//!
//! The client library's own TLS is not used: it takes the crypto provider that the process has installed, and panics if
//! there is none. Here the provider is always ring, and the process's default is neither read nor set.

#[cfg(not(feature = "tls"))]
mod disabled;
#[cfg(feature = "tls")]
mod enabled;
#[cfg(feature = "tls")]
mod session;
#[cfg(feature = "tls")]
mod settings;
#[cfg(feature = "tls")]
mod tls_failure;

#[cfg(not(feature = "tls"))]
pub(super) use disabled::{Session, Tls, classify, refuse_unused};
#[cfg(feature = "tls")]
pub(super) use enabled::{Tls, refuse_unused};
#[cfg(feature = "tls")]
pub(super) use session::Session;
#[cfg(feature = "tls")]
pub(super) use tls_failure::classify;
