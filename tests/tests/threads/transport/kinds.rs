//! Runtimes and the background take turns at reading every kind of connection.

use harness::TlsServer;

use super::*;

/// Uses the connection here and in the background; it stays the same connection.
fn one_connection_is_shared(way: &str, server: &RedisServer, client: impl Fn() -> LockClient) {
    for (kind, runtime) in both() {
        runtime.block_on(async {
            let client = client();
            settle_in(&client).await;
            let id = connection(server);
            let held = client.lock("held").acquire().await.unwrap();
            for _ in 0..20 {
                cycle(&client).await;
                // By the background.
                let renewed = held.renew().await;
                assert!(renewed.is_ok(), "{way}, {kind}: {renewed:?}");
            }
            let released = held.release().await;
            assert!(released.is_ok(), "{way}, {kind}: {released:?}");
            assert_eq!(connection(server), id, "{way}, {kind}");
        });
        drop(runtime);
        let end = format!("end of the connection ({way}, {kind})");
        wait_until(&end, LONG, || connections(server) == 0);
    }
}

#[test]
fn one_connection_is_shared_over_tcp_tls_and_a_unix_socket() {
    let _alone = alone();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("redis.sock");
    let path = path.to_str().unwrap();
    let server = RedisServer::builder().config("unixsocket", path).start();
    for url in [server.url(), format!("redis+unix://{path}")] {
        one_connection_is_shared(&url, &server, || client(&url));
    }

    let (authority, server) = TlsServer::with_authority();
    one_connection_is_shared("TLS", server.plain(), || {
        let builder = patient(server.url()).ca_certificate(authority.pem());
        builder.build().unwrap()
    });
}
