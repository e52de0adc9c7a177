//! The address of a server.

use std::fmt;
use std::path::PathBuf;

use super::tls::Tls;
use crate::backend::wire::error::WireError;

/// The address of a server. Its `Display` form contains no user.
pub(super) enum Address {
    Tcp {
        host: String,
        port: u16,
        /// `None` means that commands and answers travel unencrypted.
        tls: Option<Tls>,
    },
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no unix sockets"))]
    Unix(PathBuf),
}

impl Address {
    /// Returns the address of a server that others announce under this host. It is reached in the same way as this one.
    pub(super) fn beside(&self, host: &str, port: u16) -> Result<Address, WireError> {
        let is_host_character = |c: char| c.is_ascii_alphanumeric() || ".-_:%".contains(c);
        if !host.chars().all(is_host_character) {
            return Err(WireError::unavailable(
                "a server is announced by something other than a DNS name or an IP address",
            ));
        }
        let tls = match self {
            Address::Tcp { tls: Some(tls), .. } => Some(tls.for_host(host)?),
            Address::Tcp { tls: None, .. } | Address::Unix(_) => None,
        };
        let host = host.to_owned();
        Ok(Address::Tcp { host, port, tls })
    }

    /// Makes commands and answers travel unencrypted.
    pub(super) fn remove_tls(&mut self) {
        if let Address::Tcp { tls, .. } = self {
            *tls = None;
        }
    }

    /// Returns a hint at the likely mistake in the URL if the server closed the connection during the setup.
    pub(super) fn hint_if_closed(&self) -> &'static str {
        match self {
            Address::Tcp { tls: None, .. } => ", a port for TLS needs rediss://",
            _ => "",
        }
    }

    /// Returns a hint at the likely mistake in the URL if the server did not answer during the setup.
    pub(super) fn hint_if_silent(&self) -> &'static str {
        match self {
            Address::Tcp { tls: Some(_), .. } => ", a port without TLS needs redis://",
            _ => "",
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}
