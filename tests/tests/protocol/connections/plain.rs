//! A client with TLS never falls back to plain connections, and reports if only one side uses TLS.

use harness::{Authority, RedisServer};

use super::*;

#[tokio::test]
async fn a_tls_client_does_not_fall_back_to_a_plain_port() {
    let server = RedisServer::start();
    let mut monitor = server.monitor();
    let url = server.url().replace("redis://", "rediss://");
    let builder = trusting(url, Authority::new().pem()).command_timeout(ms(300));
    let error = builder.clone().connect().await.unwrap_err();
    assert!(error.is_unavailable() || error.is_rejected(), "{error}");
    assert!(error.to_string().contains("TLS"), "{error}");
    let client = builder.build().unwrap();
    let error = client.lock(KEY).wait(ms(700)).acquire().await.unwrap_err();
    assert!(error.is_unavailable() || error.is_rejected(), "{error}");
    assert_eq!(monitor.take(), [], "it was asked without TLS");
}

#[tokio::test]
async fn a_plain_client_gets_an_error_that_the_port_requires_tls() {
    let (_, server) = TlsServer::with_authority();
    let url = server.url().replace("rediss://", "redis://");
    let error = LockClient::connect(&url).await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("rediss://"), "{error}");
}
