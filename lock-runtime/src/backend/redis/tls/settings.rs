//! Builds the TLS library's settings from certificates.
//!
//! Errors are parts of sentences. They quote nothing from a file, which may contain a private key.

use std::sync::Arc;

use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore};

use crate::config::certificates::{Certificates, Identity, Pem};

/// Reads the certificates. Blocks if they are in files.
pub(super) fn read(certificates: &Certificates) -> Result<ClientConfig, String> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .with_root_certificates(roots(&certificates.authorities)?);
    let mut config = match &certificates.client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let (chain, key) = identity(client)?;
            let config = config.with_client_auth_cert(chain, key);
            config.map_err(|error| match error {
                Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                    "the client's key is not the one of its certificate".to_owned()
                }
                error => format!("the client's certificate cannot be used: {error}"),
            })?
        }
    };
    // A connection lasts for days, so resuming sessions would save little, and would skip the verification.
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn roots(authorities: &[Pem]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if authorities.is_empty() {
        // Certificates of the system are skipped if they cannot be parsed.
        let system = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(system.certs);
        if roots.is_empty() {
            return Err("the system trusts no CA: give a CA certificate to the builder".to_owned());
        }
    }
    for pem in authorities {
        for certificate in certificate_chain(pem, "CA certificate")? {
            roots
                .add(certificate)
                .map_err(|error| format!("{pem} of a CA certificate cannot be used: {error}"))?;
        }
    }
    Ok(roots)
}

fn identity(
    client: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let chain = certificate_chain(&client.certificate, "client's certificate")?;
    let pem = &client.key;
    let key = PrivateKeyDer::from_pem_slice(&text(pem, "client's key")?);
    let key = key.map_err(|error| match error {
        pem::Error::NoItemsFound => {
            format!("{pem} of the client's key holds no private key, or an encrypted one")
        }
        _ => malformed(pem, "client's key"),
    })?;
    Ok((chain, key))
}

/// Parses the certificates in `pem`, at least one.
fn certificate_chain(pem: &Pem, what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text(pem, what)?).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(format!("{pem} of the {what} holds no certificate")),
        Ok(chain) => Ok(chain),
        Err(_) => Err(malformed(pem, what)),
    }
}

fn text<'a>(pem: &'a Pem, what: &str) -> Result<std::borrow::Cow<'a, [u8]>, String> {
    pem.read()
        .map_err(|error| format!("{pem} of the {what} cannot be read: {error}"))
}

fn malformed(pem: &Pem, what: &str) -> String {
    format!("{pem} of the {what} is not valid PEM")
}
