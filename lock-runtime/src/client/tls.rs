//! The builder's settings for `rediss://`.

use std::path::PathBuf;

use crate::client::builder::LockClientBuilder;
use crate::config::certificates::{Identity, Pem};

/// # TLS
///
/// For `rediss://`. Every connection verifies the server's certificate: its CA, its validity period and the host in the
/// URL. Verification cannot be disabled. With a `rediss://` URL, [`build`](LockClientBuilder::build) reads and checks
/// the certificates that these methods set; with a `redis://` URL it refuses them. With a unix socket or `memory://` it
/// does not read them.
///
/// Certificate keys may be RSA with 2048 bits or more, ECDSA on P-256 or P-384, or Ed25519.
///
/// Files are read again for every new connection, so renewed certificates need no restart. If the new contents cannot
/// be used, the last usable contents stay in use.
///
/// ```no_run
/// use lock_runtime::LockClient;
///
/// # async fn start() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::builder()
///     .url("rediss://orders:s3cret@redis.internal:6380")
///     .ca_certificate_file("/etc/redis/ca.pem")
///     .client_certificate_files("/etc/redis/client.pem", "/etc/redis/client.key")
///     .require_tls(true)
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
impl LockClientBuilder {
    /// Trusts servers with certificates of this CA, instead of the system's CAs.
    ///
    /// `pem` has one certificate or several. A second call adds another CA. By default the system's store decides or,
    /// if the environment variables `SSL_CERT_FILE` or `SSL_CERT_DIR` are set, the file and directories that they name.
    pub fn ca_certificate(mut self, pem: impl AsRef<[u8]>) -> LockClientBuilder {
        let authorities = &mut self.options.certificates.authorities;
        authorities.push(Pem::text(pem));
        self
    }

    /// Like [`ca_certificate`](LockClientBuilder::ca_certificate), but reads the certificates from a file.
    pub fn ca_certificate_file(mut self, path: impl Into<PathBuf>) -> LockClientBuilder {
        let authorities = &mut self.options.certificates.authorities;
        authorities.push(Pem::File(path.into()));
        self
    }

    /// Presents this certificate to a server that asks for one.
    ///
    /// Both are PEM: the certificate, followed by any intermediate certificates up to the server's CA, and its
    /// unencrypted private key in PKCS#8, PKCS#1 or SEC1. An RSA key may have at most 4096 bits.
    pub fn client_certificate(
        mut self,
        certificate_pem: impl AsRef<[u8]>,
        key_pem: impl AsRef<[u8]>,
    ) -> LockClientBuilder {
        self.options.certificates.client = Some(Identity {
            certificate: Pem::text(certificate_pem),
            key: Pem::text(key_pem),
        });
        self
    }

    /// Like [`client_certificate`](LockClientBuilder::client_certificate), but reads two files.
    pub fn client_certificate_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> LockClientBuilder {
        self.options.certificates.client = Some(Identity {
            certificate: Pem::File(certificate.into()),
            key: Pem::File(key.into()),
        });
        self
    }
}
