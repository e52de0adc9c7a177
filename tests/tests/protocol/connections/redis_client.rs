//! Clients for locks that take the settings of a client of redis-rs.

use harness::{RedisServer, failed};
use lock_runtime::{Credentials, LockRecord, RedisSettings};
use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

use super::*;

/// A builder of patient clients.
fn beside(settings: &impl RedisSettings) -> LockClientBuilder {
    let builder = LockClient::builder().redis(settings);
    builder.command_timeout(LONG)
}

fn info(url: &str) -> ConnectionInfo {
    url.into_connection_info().unwrap()
}

fn tls(host: &str, port: u16, insecure: bool) -> ConnectionInfo {
    info("redis://h").set_addr(ConnectionAddr::TcpTls {
        host: host.to_owned(),
        port,
        insecure,
        tls_params: None,
    })
}

/// Returns whether the client's connections have this user and this database.
async fn logs_in(client: &LockClient, server: &RedisServer, user: &str, database: u32) {
    let guard = soon(hold(client)).await;
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let (user, database) = (format!("user={user} "), format!("db={database} "));
    let ours = |line: &&str| line.contains(&user) && line.contains(&database);
    assert_eq!(list.lines().filter(ours).count(), 1, "{list}");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn address_database_and_login_are_taken() {
    let server = RedisServer::start();
    server.user("svc@shop", "p:/?#%+é", &["~*", "&*", "+@all"]);
    let login = "://svc%40shop:p%3A%2F%3F%23%25+%C3%A9@";
    let url = format!("{}/3", server.url().replace("://", login));
    let client = Client::open(url).unwrap();
    let of_client = beside(&client).connect().await.unwrap();
    logs_in(&of_client, &server, "svc@shop", 3).await;
    let settings = client.get_connection_info().clone();
    let other = settings.redis_settings().clone().set_db(4);
    let of_info = beside(&settings.set_redis_settings(other)).connect().await;
    logs_in(&of_info.unwrap(), &server, "svc@shop", 4).await;
    let without_login = beside(&info(&server.url())).connect().await;
    logs_in(&without_login.unwrap(), &server, "default", 0).await;
}

#[tokio::test]
async fn wrong_password_is_refused() {
    let server = RedisServer::start();
    server.user("app", "s3cret", &["~*", "&*", "+@all"]);
    let url = server.url().replace("://", "://app:wr0ng@");
    let refused = beside(&info(&url)).connect().await;
    let text = failed(refused, LockErrorKind::Rejected).to_string();
    assert!(!text.contains("wr0ng"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn unix_socket_is_taken() {
    let (_folder, path, server) = unix::server();
    server.user("app", "a+b c&d", &["~*", "&*", "+@all"]);
    let settings = info("redis://app:a+b%20c%26d@h/3").set_addr(ConnectionAddr::Unix(path));
    let client = beside(&settings).require_tls(true).connect().await;
    logs_in(&client.unwrap(), &server, "app", 3).await;
}

#[tokio::test]
async fn tls_is_taken_and_its_certificates_are_this_clients() {
    let (authority, server) = TlsServer::with_authority();
    let settings = tls("localhost", server.port(), false);
    let client = beside(&settings).ca_certificate(authority.pem());
    cycle(&client.connect().await.unwrap()).await;
    failed(beside(&settings).connect().await, LockErrorKind::Rejected);
}

#[test]
fn what_cannot_be_taken_is_refused_in_a_sentence() {
    let plain = || info("redis://app:s3cret@h");
    let with_tcp = |settings| plain().set_tcp_settings(settings);
    let tcp = TcpSettings::default;
    let negative = plain().redis_settings().clone().set_db(-1);
    let at = |host: &str, port| plain().set_addr(ConnectionAddr::Tcp(host.to_owned(), port));
    for (builder, words) in [
        (
            beside(&tls("h", 6379, true)),
            "does not verify certificates",
        ),
        (
            beside(&with_tcp(tcp().set_linger_time(ms(0)))),
            "options of its sockets",
        ),
        (
            beside(&with_tcp(tcp().set_user_timeout(ms(9)))),
            "options of its sockets",
        ),
        (
            beside(&plain().set_redis_settings(negative)),
            "database is negative",
        ),
        (beside(&at("a b", 6379)), "not a DNS name or an IP address"),
        (beside(&at("h", 0)), "not a DNS name or an IP address"),
        (
            beside(&plain()).require_tls(true),
            "the client requires TLS",
        ),
        (
            beside(&plain()).ca_certificate("-----"),
            "certificates are for TLS",
        ),
        (
            beside(&plain())
                .credentials(|| async { Ok::<_, std::io::Error>(Credentials::new("app", "p")) }),
            "leave one of the two out",
        ),
        (beside(&plain()).url("redis://h"), "and not both"),
        (
            beside(&plain())
                .record(LockRecord::Redisson)
                .wait_replicas(1),
            "Redisson",
        ),
    ] {
        let error = failed(builder.build(), LockErrorKind::InvalidOptions);
        let text = format!("{error} {error:?}");
        assert!(text.contains(words), "{words}: {text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
    let nodelay = with_tcp(tcp().set_nodelay(true));
    beside(&nodelay)
        .build()
        .expect("a client for locks does that, too");
}
