//! Logins, permissions and TLS at the sentinels and at the primary.

use std::time::Instant;

use harness::{
    LONG, RIGHTS, RedisServer, SENTINEL_RIGHTS, TlsServer, ask, cycle, eventually, failed, hold,
    patient, sentinel_of, sentinel_url, tls_sentinel_of,
};
use lock_runtime::{Credentials, LockClient, LockErrorKind};

use crate::wrong_passwords;

async fn refused_at_once(url: &str, words: &str) {
    let began = Instant::now();
    let refused = patient(url).connect().await;
    let error = failed(refused, LockErrorKind::Rejected);
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
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
async fn credentials_are_only_for_the_primary() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let user = [
        "ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all",
    ];
    let _: () = ask(&mut server.connection(), &user);
    let given = async || Ok::<_, std::io::Error>(Credentials::new("app", "s3cret"));
    let builder = LockClient::builder().url(sentinel_url(&[&sentinel]));
    let client = builder.credentials(given).connect().await.unwrap();
    cycle(&client).await;
    let clients: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    assert!(clients.contains("user=app"), "{clients}");
    assert_eq!(wrong_passwords(&sentinel), 0, "it was not asked as `app`");
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
    cycle(&LockClient::connect(&with).await.unwrap()).await;
}

/// A command that is refused would be in the log.
#[tokio::test]
async fn rights_are_enough_and_all_used() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let user = ["ACL", "SETUSER", "service", "reset", "on", ">password"];
    let (mut at_server, mut at_sentinel) = (server.connection(), sentinel.connection());
    let _: () = ask(&mut at_server, &[&user, RIGHTS, &["+info"]].concat());
    let _: () = ask(&mut at_sentinel, &[&user, SENTINEL_RIGHTS].concat());
    let _: () = ask(&mut at_sentinel, &["ACL", "LOG", "RESET"]);
    let login = "?sentinel_user=service&sentinel_password=password#";
    let url = sentinel_url(&[&sentinel]).replace("://", "://service:password@");
    let client = LockClient::connect(&url.replace('#', login)).await.unwrap();
    let guard = hold(&client).await;
    eventually("watch", LONG, async || {
        let clients: String = ask(&mut at_sentinel, &["CLIENT", "LIST"]);
        // Redis 6.2 does not tell the subcommand.
        let has_asked = |line: &str| {
            line.contains("get-master-addr-by-name") || line.contains(" cmd=sentinel ")
        };
        let watch = |line: &str| line.contains(" sub=1 ") && has_asked(line);
        clients.lines().any(watch)
    })
    .await;
    guard.release().await.unwrap();
    let refused: Vec<redis::Value> = ask(&mut at_sentinel, &["ACL", "LOG"]);
    assert!(refused.is_empty(), "{refused:?}");
    for right in SENTINEL_RIGHTS {
        if !right.starts_with("+sentinel|") {
            continue;
        }
        // Without one of its commands. Redis 6.2 can grant one, and cannot take it away.
        let others = SENTINEL_RIGHTS.iter().copied();
        let others: Vec<_> = others.filter(|other| other != right).collect();
        let _: () = ask(&mut at_sentinel, &[&user, &others[..]].concat());
        refused_at_once(&url.replace('#', login), "NOPERM").await;
    }
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
        let client = LockClient::builder()
            .url(url)
            .ca_certificate(authority.pem());
        let client = client.build().unwrap();
        cycle(&client).await;
    }
}
