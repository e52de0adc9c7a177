//! The sentinels in a URL.

use std::sync::atomic::AtomicU64;

use redis::RedisConnectionInfo;

use super::primary::Primary;
use crate::backend::redis::address::Address;
use crate::backend::wire::error::WireError;

/// The sentinels of a primary, at least one.
pub(in crate::backend::redis) struct Sentinels {
    /// The name of the primary.
    pub(in crate::backend::redis) name: String,
    pub(in crate::backend::redis) addresses: Vec<Address>,
    /// The login for the sentinels, which differs from the primary's.
    pub(in crate::backend::redis) login: RedisConnectionInfo,
    /// An address that shows how the primary is reached.
    pub(in crate::backend::redis) beside: Address,
    /// The highest epoch in the last answers. Sentinels with a lower one have missed a failover.
    pub(in crate::backend::redis) epoch: AtomicU64,
}

impl Sentinels {
    /// Returns the address under which to connect to a primary.
    pub(in crate::backend::redis) fn address_of(
        &self,
        primary: &Primary,
    ) -> Result<Address, WireError> {
        self.beside.beside(&primary.host, primary.port)
    }
}
