//! Locates the server of a connection.

use std::fmt;
use std::sync::Arc;

use super::address::Address;
use super::sentinel::Sentinels;

/// The location of a connection's server. Its `Display` form begins a sentence.
#[derive(Clone)]
pub(super) enum Locator {
    Fixed(Arc<Address>),
    /// The sentinels locate the server at each attempt to connect.
    Sentinels(Arc<Sentinels>),
}

impl From<Arc<Address>> for Locator {
    fn from(address: Arc<Address>) -> Locator {
        Locator::Fixed(address)
    }
}

impl From<Address> for Locator {
    fn from(address: Address) -> Locator {
        Locator::Fixed(Arc::new(address))
    }
}

impl From<Arc<Sentinels>> for Locator {
    fn from(sentinels: Arc<Sentinels>) -> Locator {
        Locator::Sentinels(sentinels)
    }
}

impl Locator {
    /// Returns the name of the server for reports. Until the sentinels have located it, this is the name of the
    /// primary.
    pub(super) fn name(&self) -> String {
        match self {
            Locator::Fixed(address) => address.to_string(),
            Locator::Sentinels(sentinels) => sentinels.name.clone(),
        }
    }

    /// Returns a hint at the likely mistake in the URL if the server did not answer during the setup.
    pub(super) fn hint_if_silent(&self) -> &'static str {
        match self {
            Locator::Fixed(address) => address.hint_if_silent(),
            Locator::Sentinels(_) => "",
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Locator::Fixed(address) => address.fmt(f),
            Locator::Sentinels(sentinels) => write!(f, "the primary `{}`", sentinels.name),
        }
    }
}
