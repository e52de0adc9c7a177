//! Connections as production has them: TLS, certificates, unix sockets, users, and what is logged of
//! them. What goes wrong must be an error that says so, never a panic and never a weaker connection.

mod certificates;
mod deletion;
mod distrust;
mod plain;
mod provider;
mod setup;
mod tls;
mod topology;
#[cfg(unix)]
mod unix;
mod users;
mod warnings;

use harness::{KEY, LONG, SLACK, TlsServer, ask, client, cycle, hold, ms, served, soon};
use lock_runtime::{LockClient, LockClientBuilder, LockError, LockErrorKind};

/// A builder of clients that trust what `pem` signs.
fn trusting(url: impl Into<String>, pem: impl AsRef<[u8]>) -> LockClientBuilder {
    LockClient::builder().url(url).ca_certificate(pem)
}

/// What comes of asking for the lock with all the patience in the world.
async fn refusal(client: &LockClient) -> LockError {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect_err("the lock cannot be had")
}
