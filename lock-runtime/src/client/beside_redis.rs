//! Takes the servers of a client of redis-rs that the program has already.

use crate::backend::redis::{RedisClient, RedisSettings};
use crate::client::builder::LockClientBuilder;

impl LockClientBuilder {
    /// Takes address, database, login and TLS from a `redis::Client` or a `redis::ConnectionInfo` of redis-rs 1, in place
    /// of a [`url`](LockClientBuilder::url).
    ///
    /// The connection itself is not shared: messages wake waiters on it, and no lock may wait behind a slow command. The
    /// protocol, and the name of the library, remain those of the other client: locks always use RESP3, and their
    /// connections have the [`label`](LockClientBuilder::label) as their name.
    ///
    /// # Errors
    ///
    /// [`build`](LockClientBuilder::build) fails with `InvalidOptions` for what it cannot take: TLS without
    /// verification, `tls_params` (set the [certificates](LockClientBuilder::ca_certificate) here), `TcpSettings` other than
    /// `nodelay`, and a negative database. Also if there is a `url`, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::LockClient;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let redis = redis::Client::open("redis://orders:s3cret@redis.internal/2")?;
    /// LockClient::builder().redis(&redis).build()?.install()?;
    /// # Ok(()) }
    /// ```
    pub fn redis(mut self, settings: &impl RedisSettings) -> LockClientBuilder {
        self.redis = Some(RedisClient::of(settings));
        self
    }
}
