//! A TLS session over a TCP connection.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::session::Session;
use super::tls_failure::Origin;
use super::{settings, tls_failure};
use crate::backend::wire::error::WireError;
use crate::background::sync::Mutex;
use crate::config::Options;
use crate::config::certificates::Certificates;
use crate::error::LockError;
use crate::telemetry;

/// Creates sessions with one server.
pub(in crate::backend::redis) struct Tls {
    /// The name that the server's certificate must contain.
    name: ServerName<'static>,
    origin: Origin,
    certificates: Arc<Certificates>,
    /// The settings, from the certificates that were last read.
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
            origin: Origin::Url,
            certificates: Arc::new(options.certificates.clone()),
            config: Mutex::new(Arc::new(config)),
        })
    }

    /// Creates the same for a server that other servers announce, with the same certificates.
    pub(in crate::backend::redis) fn for_host(&self, host: &str) -> Result<Tls, WireError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| WireError::unavailable(format!("{host} is no DNS name or IP address")))?;
        Ok(Tls {
            name,
            origin: Origin::Announced,
            certificates: self.certificates.clone(),
            config: Mutex::new(self.config.lock().clone()),
        })
    }

    pub(in crate::backend::redis) async fn connect(
        &self,
        stream: TcpStream,
    ) -> Result<(TcpStream, Session), WireError> {
        let connector = TlsConnector::from(self.current_config().await);
        let connected = connector.connect(self.name.clone(), stream).await;
        let connected =
            connected.map_err(|error| tls_failure::classify_handshake(&error, self.origin))?;
        let (stream, session) = connected.into_inner();
        Ok((stream, Session::new(session)))
    }

    /// Returns the settings. Certificates in files are read again, since they are renewed more often than services
    /// restart. Files that are unusable right now, for example half written, change nothing.
    async fn current_config(&self) -> Arc<ClientConfig> {
        if self.certificates.has_files() {
            let certificates = self.certificates.clone();
            let reading = tokio::task::spawn_blocking(move || settings::read(&certificates));
            match reading.await {
                Ok(Ok(config)) => *self.config.lock() = Arc::new(config),
                Ok(Err(reason)) => telemetry::certificates_not_renewed(&reason),
                // The process is exiting.
                Err(_) => {}
            }
        }
        self.config.lock().clone()
    }
}

/// Refuses certificates for a URL without TLS: a user who configures certificates does not intend to send the password
/// unencrypted.
pub(in crate::backend::redis) fn refuse_unused(options: &Options) -> Result<(), LockError> {
    if options.certificates.is_empty() {
        return Ok(());
    }
    Err(LockError::invalid_options(
        "certificates are for rediss://, and the URL begins with redis://",
    ))
}
