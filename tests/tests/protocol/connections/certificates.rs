//! Certificates as users provide them: checked when the client is built, and reloaded when they change.

use harness::{Authority, Identity, Proxy, Validity, patient, write_file};
use tempfile::TempDir;

use super::*;

const URL: &str = "rediss://127.0.0.1:1";

#[track_caller]
fn refused(builder: LockClientBuilder, reason: &str) {
    let error = builder.build().expect_err(reason);
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions, "{error}");
    assert!(error.to_string().contains(reason), "{error}");
    assert!(!error.to_string().contains("PRIVATE KEY"), "{error}");
}

#[test]
fn an_invalid_certificate_is_refused_when_the_client_is_built() {
    let authority = Authority::new();
    let Identity { certificate, key } = authority.issue(&["orders"], Validity::Now);
    let other = authority.issue(&["other"], Validity::Now);
    let broken = certificate.replacen("MII", "M*I", 1);
    let nonsense = "-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n";
    for (pem, reason) in [
        ("", "the CA certificate holds no certificate"),
        ("secret", "the CA certificate holds no certificate"),
        (key.as_str(), "the CA certificate holds no certificate"),
        (broken.as_str(), "the CA certificate is not valid PEM"),
        (nonsense, "a CA certificate cannot be used"),
    ] {
        refused(trusting(URL, pem), reason);
    }
    let trusting = trusting(URL, authority.pem());
    let client = |certificate: &str, key: &str| {
        let builder = trusting.clone();
        builder.client_certificate(certificate, key)
    };
    client(&certificate, &key).build().unwrap();
    let cut = key.replace("-----END", "");
    let other = &*other.key;
    for (certificate, key, reason) in [
        ("", &*key, "the client's certificate holds no certificate"),
        (&*certificate, "", "the client's key holds no private key"),
        (&certificate, &certificate, "holds no private key"),
        (&certificate, &cut, "the client's key is not valid PEM"),
        (&certificate, other, "not the one of its certificate"),
        (nonsense, &key, "the client's certificate cannot be used"),
    ] {
        refused(client(certificate, key), reason);
    }
}

#[test]
fn certificates_that_cannot_be_used_are_refused_in_words() {
    let (folder, pem) = (TempDir::new().unwrap(), Authority::new().pem());
    let missing = folder.path().join("missing.pem");
    let builder = patient(URL);
    refused(builder.ca_certificate_file(&missing), "missing.pem");
    let files = trusting(URL, &pem).client_certificate_files(&missing, &missing);
    refused(files, "missing.pem");
    refused(trusting("rediss://under_score..host", &pem), "DNS name");
    refused(trusting("redis://127.0.0.1", &pem), "rediss://");
    // There is nothing to protect.
    trusting("memory://", &pem).build().unwrap();
}

#[test]
fn a_key_is_never_shown() {
    let Identity { certificate, key } = Authority::new().issue(&["orders"], Validity::Now);
    let builder = trusting(URL, &certificate).client_certificate(&certificate, &key);
    let shown = format!("{builder:?} {:#?}", builder.clone().build());
    let secret = key.lines().nth(1).unwrap();
    assert!(!shown.contains(secret), "{shown}");
    assert!(
        !shown.contains(&format!("{:?}", secret.as_bytes())[1..40]),
        "{shown}"
    );
}

#[tokio::test]
async fn renewed_files_are_used_by_the_next_connection() {
    warnings::record();
    let (old, new) = (Authority::new(), Authority::new());
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| write_file(folder.path(), name, text);
    let ca = write("ca.pem", &old.pem());
    let own = old.issue(&["orders"], Validity::Now);
    let certificate = write("client.pem", &own.certificate);
    let key = write("client.key", &own.key);

    let server = TlsServer::start(&old);
    server.ask_for_certificates(true);
    let proxy = Proxy::start(server.port());
    let url = proxy.url().replace("redis://", "rediss://");
    let client = patient(url)
        .ca_certificate_file(&ca)
        .client_certificate_files(&certificate, &key)
        .build()
        .unwrap();
    cycle(&client).await;

    // Half written: the certificates that were read before stay in use.
    let half = write("client.key", "");
    proxy.kill_connections();
    cycle(&client).await;
    let told = warnings::warnings("certificates_not_renewed", half.to_str().unwrap());
    assert!(!told.is_empty(), "no warning was logged");

    // All certificates are replaced, including the server's.
    let replaced = TlsServer::start(&new);
    replaced.ask_for_certificates(true);
    proxy.redirect(replaced.port());
    proxy.kill_connections();
    let error = refusal(&client).await;
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    let own = new.issue(&["orders"], Validity::Now);
    write("ca.pem", &new.pem());
    write("client.pem", &own.certificate);
    write("client.key", &own.key);
    cycle(&client).await;
}
