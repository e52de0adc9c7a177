//! Logins and TLS at the sentinels and at the primary.

use std::time::Instant;

use harness::{
    LONG, RedisServer, TlsServer, ask, cycle, failed, patient, ran_since, sentinel_of,
    sentinel_url, tls_sentinel_of,
};
use lock_runtime::LockErrorKind;

use crate::wrong_passwords;

async fn refused_at_once(url: &str, words: &str) {
    let began = Instant::now();
    let refused = patient(url).connect().await;
    let error = failed(refused, LockErrorKind::Rejected);
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
    assert!(ran_since(began) < LONG, "{:?}", began.elapsed());
}

#[tokio::test]
async fn wrong_password_is_refused_by_its_server() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let at_sentinel = format!("the sentinel 127.0.0.1:{}: WRONGPASS", sentinel.port());
    let url = sentinel_url(&[&sentinel]);
    let with = url.replace('#', "?sentinel_user=harness&sentinel_password=s3cret#");
    refused_at_once(&with, &at_sentinel).await;
    assert_eq!(wrong_passwords(&sentinel), 1);
    let with = url.replace("://", "://harness:s3cret@");
    refused_at_once(&with, "WRONGPASS").await;
    assert_eq!(wrong_passwords(&server), 1);
}

#[tokio::test]
async fn missing_password_of_a_sentinel_is_named() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let secure = ["ACL", "SETUSER", "default", "resetpass", ">s3cret"];
    let _: () = ask(&mut sentinel.connection(), &secure);
    let url = sentinel_url(&[&sentinel]);
    refused_at_once(&url, "and the URL has no `sentinel_password`").await;
    let with = url.replace('#', "?sentinel_password=s3cret#");
    cycle(&patient(with).connect().await.unwrap()).await;
}

#[tokio::test]
async fn sentinels_are_reached_over_tls_unless_the_url_disables_it() {
    let (authority, server) = TlsServer::with_authority();
    let (sentinel, port) = tls_sentinel_of(&server, &authority);
    for url in [
        format!("rediss-sentinel://127.0.0.1:{port}#mymaster"),
        format!(
            "rediss-sentinel://127.0.0.1:{}?sentinel_tls=false#mymaster",
            sentinel.port()
        ),
    ] {
        let client = patient(url).ca_certificate(authority.pem());
        let client = client.build().unwrap();
        cycle(&client).await;
    }
}
