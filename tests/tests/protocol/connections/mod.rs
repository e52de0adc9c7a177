//! Connections as in production: TLS, certificates, unix sockets, users, and their log. A failure must be an error that
//! names it, never a panic and never a weaker connection.

mod certificates;
mod credentials;
mod deletion;
mod distrust;
mod redis_client;
mod setup;
mod tls;
mod topology;
mod trial;
#[cfg(unix)]
mod unix;
mod users;
mod warnings;

use harness::{KEY, LONG, SLACK, TlsServer, ask, client, cycle, hold, ms, served, soon};
use lock_runtime::{LockClient, LockClientBuilder, LockError, LockErrorKind};

/// A builder of patient clients that trust certificates signed by `pem`.
fn trusting(url: impl Into<String>, pem: impl AsRef<[u8]>) -> LockClientBuilder {
    harness::patient(url).ca_certificate(pem)
}

/// The error of an acquire with a long wait.
async fn refusal(client: &LockClient) -> LockError {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect_err("the call fails")
}
