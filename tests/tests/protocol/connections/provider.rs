//! The process's default crypto provider belongs to the application: the client neither needs nor sets
//! it.

use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

use super::*;

#[tokio::test]
async fn the_default_crypto_provider_is_not_changed() {
    let (authority, server) = TlsServer::with_authority();
    assert!(CryptoProvider::get_default().is_none());
    cycle(&trusting(server.url(), authority.pem()).build().unwrap()).await;
    assert!(CryptoProvider::get_default().is_none(), "one was installed");

    // A provider without any cipher suites.
    let useless = CryptoProvider {
        cipher_suites: Vec::new(),
        kx_groups: Vec::new(),
        ..ring::default_provider()
    };
    useless.install_default().unwrap();
    cycle(&trusting(server.url(), authority.pem()).build().unwrap()).await;
    let default = CryptoProvider::get_default().expect("it is installed");
    assert!(default.cipher_suites.is_empty(), "it was replaced");
}
