//! A server that cannot be reached, or cannot answer now.

use std::time::Duration;

use harness::{Proxy, RedisServer, failed, patient};
use lock_runtime::LockErrorKind;

use super::{assert_reads, client, ms, refusal};

/// A call and a connection fail with these words. `promise/contract` has how soon.
async fn is_unavailable(url: &str, words: &str) {
    let client = client(url);
    for wait in [Duration::ZERO, ms(200)] {
        let error = refusal(&client, wait).await;
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        assert!(error.is_unavailable() && error.waited().is_some());
        assert_eq!(error.retry_after(), None);
        assert_reads(&error);
    }
    let error = failed(patient(url).connect().await, LockErrorKind::Unavailable);
    assert_eq!(error.key(), None);
    assert_reads(&error);
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn server_that_cannot_be_reached_is_unavailable_and_named() {
    let mut server = RedisServer::start();
    server.kill9();
    let words = format!("cannot connect to 127.0.0.1:{}: ", server.port());
    is_unavailable(&server.url(), &words).await;

    // A network that drops everything.
    server.restart();
    let proxy = Proxy::start(server.port());
    proxy.black_hole();
    let address = proxy.url().replace("redis://", "");
    let words = format!("{address} did not let us connect");
    is_unavailable(&proxy.url(), &words).await;

    is_unavailable("redis://host.invalid", "host.invalid:6379").await;
}

#[tokio::test]
async fn port_without_a_redis_server_is_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::Write;
        for mut caller in listener.incoming().map_while(Result::ok) {
            // The server may close the connection of a caller that is gone.
            let _ = caller.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let error = refusal(&client(url), ms(200)).await;
    assert!(error.is_unavailable() || error.is_rejected(), "{error}");
    assert_reads(&error);
}

#[tokio::test]
async fn a_server_without_a_free_place() {
    let server = RedisServer::start();
    let mut only_one = server.connection();
    let () = harness::ask(&mut only_one, &["CONFIG", "SET", "maxclients", "1"]);
    let error = refusal(&client(server.url()), ms(100)).await;
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
}
