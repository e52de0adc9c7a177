//! The client that a command uses.

use std::time::Duration;

use lock_runtime::{LockClient, LockClientBuilder, LockRecord};

use crate::args::{Connection, Kept};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;

/// The default timeout. A command runs once, and a distant server needs several round trips.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many keys a server scans for a page. Its other clients wait while it does.
pub(crate) const PAGE: u32 = 250;

impl Connection {
    /// A connected client.
    pub(crate) async fn connect(&self, label: &str) -> Result<LockClient, Failure> {
        Ok(self.builder(label).connect().await?)
    }

    /// A connected client, or the exit code if a signal ends this process first.
    pub(crate) async fn connect_or_end(
        &self,
        label: &str,
        signals: &mut Signals,
    ) -> Result<Result<LockClient, Exit>, Failure> {
        tokio::select! {
            client = self.connect(label) => Ok(Ok(client?)),
            exit = signals.end() => Ok(Err(exit)),
        }
    }

    /// Refuses `memory://` for a command that must exclude other processes.
    pub(crate) fn exclude_others(&self) -> Result<(), Failure> {
        let scheme = self.url.split("://").next().unwrap_or_default();
        if scheme.eq_ignore_ascii_case("memory") {
            return Err(Failure::new(
                Exit::USAGE,
                "locks of memory:// exclude no other process: give the URL of a server",
            ));
        }
        Ok(())
    }

    /// Refuses options that no client can be built with. Connects to nothing.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        Ok(self.builder("").build().map(drop)?)
    }

    fn builder(&self, label: &str) -> LockClientBuilder {
        let mut builder = LockClient::builder()
            .url(&self.url)
            .prefix(&self.prefix)
            .record(match self.record {
                Kept::Native => LockRecord::Native,
                Kept::Redisson => LockRecord::Redisson,
            })
            .command_timeout(self.timeout.map_or(TIMEOUT, |timeout| *timeout))
            // No command here takes a lock in a loop.
            .local_turns(1)
            .label(label);
        if let Some(file) = &self.ca_file {
            builder = builder.ca_certificate_file(file);
        }
        if let Some((certificate, key)) = self.cert_file.as_ref().zip(self.key_file.as_ref()) {
            builder = builder.client_certificate_files(certificate, key);
        }
        if let Some(file) = &self.password_file {
            builder = builder.credentials_file(file);
        }
        builder
    }
}
