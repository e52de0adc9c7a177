//! Certificates that the client or the server does not accept: the error comes at once and names the reason, and the
//! client does not retry the connection.

use std::error::Error;
use std::time::Instant;

use harness::{Authority, Flaw, Proxy, Validity, failed, patient, ran_since};

use super::*;

/// Asserts that `client` is refused because of `reason`, without a storm of attempts and without a command.
async fn refused(proxy: &Proxy, client: &LockClient, reason: &str) {
    let before = proxy.accepted();
    let started = Instant::now();
    let error = refusal(client).await;
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    let text = error.to_string();
    assert!(text.contains(reason), "{text}");
    assert!(text.starts_with("lock `order:42` was refused"), "{text}");
    assert!(!text.contains('\n') && !text.ends_with('.'), "{text}");
    let cause = error.cause().expect("it is kept");
    assert!(!cause.to_string().is_empty() && error.source().is_none());
    assert!(ran_since(started) < SLACK * 2, "{:?}", started.elapsed());
    let attempts = proxy.accepted() - before;
    assert!(
        attempts <= 2,
        "{attempts} attempts: one, and one to end the owner"
    );
}

fn through(proxy: &Proxy) -> String {
    proxy.url().replace("redis://", "rediss://")
}

#[tokio::test]
async fn a_server_certificate_that_does_not_verify_is_refused() {
    let trusted = Authority::named("the CA");
    let (stranger, namesake) = (Authority::new(), Authority::named("the CA"));
    let server = TlsServer::start(&trusted);
    let proxy = Proxy::start(server.port());
    let local = ["localhost", "127.0.0.1"];
    for (identity, reason) in [
        (stranger.local(), "was issued by an unknown CA"),
        (namesake.local(), "was issued by an unknown CA"),
        (
            trusted.issue(&["redis.internal"], Validity::Now),
            "is for another name than the URL's host",
        ),
        (trusted.issue(&local, Validity::Past), "has expired"),
        (trusted.issue(&local, Validity::Future), "is not valid yet"),
    ] {
        server.present(&identity);
        let builder = trusting(through(&proxy), trusted.pem());
        let error = failed(builder.clone().connect().await, LockErrorKind::Rejected);
        assert!(error.to_string().contains(reason), "{error}");
        refused(&proxy, &builder.build().unwrap(), reason).await;
    }
    // Once the setting is corrected, the next call succeeds.
    let client = trusting(through(&proxy), trusted.pem()).build().unwrap();
    refused(&proxy, &client, "is not valid yet").await;
    server.present(&trusted.local());
    cycle(&client).await;
}

#[tokio::test]
async fn a_trusted_cas_certificate_for_another_use_is_refused() {
    let (authority, constrained) = (Authority::new(), Authority::of_domain("internal"));
    let server = TlsServer::start(&authority);
    let proxy = Proxy::start(server.port());
    let pem = format!("{}{}", authority.pem(), constrained.pem());
    for (identity, reason) in [
        (authority.flawed(Flaw::NoNames), "has no subjectAltName"),
        (authority.flawed(Flaw::OfAuthority), "is one of a CA"),
        (authority.flawed(Flaw::ForClients), "is not for servers"),
        (
            authority.flawed(Flaw::FirstVersion),
            "is of X.509 version 1 or 2",
        ),
        (constrained.local(), "by its name constraints"),
    ] {
        server.present(&identity);
        let client = trusting(through(&proxy), &pem).build().unwrap();
        refused(&proxy, &client, reason).await;
    }
}

#[tokio::test]
async fn a_private_ca_is_not_trusted_by_the_system() {
    let server = TlsServer::start(&Authority::new());
    let proxy = Proxy::start(server.port());
    match patient(through(&proxy)).build() {
        Ok(client) => refused(&proxy, &client, "was issued by an unknown CA").await,
        // Slim images have no trusted certificates.
        Err(error) => {
            assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
            assert!(
                error.to_string().contains("give a CA certificate"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_certificate_that_the_server_does_not_accept_is_refused() {
    let (authority, server) = TlsServer::with_authority();
    server.ask_for_certificates(true);
    let proxy = Proxy::start(server.port());
    let none = trusting(through(&proxy), authority.pem());
    refused(
        &proxy,
        &none.clone().build().unwrap(),
        "asks for a client certificate",
    )
    .await;
    let expired = authority.issue(&["orders"], Validity::Past);
    let strange = Authority::new().issue(&["orders"], Validity::Now);
    for own in [expired, strange] {
        let client = none.clone().client_certificate(own.certificate, own.key);
        let reason = "does not accept the client's certificate";
        refused(&proxy, &client.build().unwrap(), reason).await;
    }
}

#[tokio::test]
async fn a_held_lock_survives_while_its_server_is_not_trusted() {
    let (authority, server) = TlsServer::with_authority();
    let proxy = Proxy::start(server.port());
    let client = trusting(through(&proxy), authority.pem()).build().unwrap();
    let guard = client.lock(KEY).ttl(ms(20_000)).acquire().await.unwrap();
    server.present(&authority.issue(&["redis.internal"], Validity::Now));
    proxy.kill_connections();
    harness::eventually("refusal", LONG, async || {
        let renewed = guard.renew().await;
        renewed.is_err_and(|error| error.kind() == LockErrorKind::Rejected)
    })
    .await;
    assert!(guard.is_valid(), "its lease has not ended");
    server.present(&authority.local());
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
}
