//! Where the server of a connection is.

use std::fmt;
use std::sync::Arc;

use super::address::Address;
use super::sentinel::Sentinels;

/// Where the server of a connection is. Its `Display` form begins a sentence.
pub(super) enum Locator {
    Fixed(Address),
    /// Where the sentinels say, at each attempt to connect.
    Sentinels(Arc<Sentinels>),
}

impl Locator {
    /// The likely mistake in the URL if the server did not answer during the setup.
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
