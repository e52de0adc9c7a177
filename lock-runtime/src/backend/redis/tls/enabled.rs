//! A TLS session over a TCP connection.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::{Session, failure, settings};
use crate::backend::wire::error::WireError;
use crate::config::Options;
use crate::config::certificates::Certificates;
use crate::error::LockError;
use crate::telemetry;

/// How sessions with one server are made.
pub(in crate::backend::redis) struct Tls {
    /// What the server's certificate must be for.
    name: ServerName<'static>,
    certificates: Arc<Certificates>,
    /// From the certificates as they were read last.
    config: Mutex<Arc<ClientConfig>>,
}

impl Tls {
    pub(in crate::backend::redis) fn new(host: &str, options: &Options) -> Result<Tls, LockError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            LockError::invalid_options(
                "a rediss:// URL must name a host by its DNS name or IP address",
            )
        })?;
        let config = settings::read(&options.certificates).map_err(LockError::invalid_options)?;
        Ok(Tls {
            name,
            certificates: Arc::new(options.certificates.clone()),
            config: Mutex::new(Arc::new(config)),
        })
    }

    pub(in crate::backend::redis) async fn connect(
        &self,
        stream: TcpStream,
    ) -> Result<(TcpStream, Session), WireError> {
        let connector = TlsConnector::from(self.config().await);
        let connected = connector.connect(self.name.clone(), stream).await;
        let connected = connected.map_err(|error| failure::of_handshake(&error))?;
        let (stream, session) = connected.into_inner();
        Ok((stream, Session::new(session)))
    }

    /// The settings, read anew if they come from files: certificates are renewed more often than
    /// services are restarted. Files that cannot be used just now, because somebody is writing
    /// them, change nothing.
    async fn config(&self) -> Arc<ClientConfig> {
        if self.certificates.has_files() {
            let certificates = self.certificates.clone();
            let reading = tokio::task::spawn_blocking(move || settings::read(&certificates));
            match reading.await {
                Ok(Ok(config)) => *self.last() = Arc::new(config),
                Ok(Err(reason)) => telemetry::certificates_not_renewed(&reason),
                // The process is ending.
                Err(_) => {}
            }
        }
        self.last().clone()
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Arc<ClientConfig>> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who gives certificates does not mean to send a password in the clear.
pub(in crate::backend::redis) fn refuse_unused(options: &Options) -> Result<(), LockError> {
    if options.certificates.is_empty() {
        return Ok(());
    }
    Err(LockError::invalid_options(
        "certificates are for rediss://, and the URL begins with redis://",
    ))
}
