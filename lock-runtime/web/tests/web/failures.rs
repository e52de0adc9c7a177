//! The responses to requests that fail.

use axum::http::StatusCode;
use harness::{RedisServer, ask, client, ms, patient, shows_secret, urls_with_secrets};
use lock_runtime::LockClient;

use crate::{address, get, service};

#[tokio::test]
async fn unreachable_server_is_reported() {
    let mut server = RedisServer::start();
    let url = format!("redis://ann:hush-hush@127.0.0.1:{}", server.port());
    server.kill9();
    let client = patient(url).build().unwrap();
    let service = service(lock_web::router(client));
    for path in ["", "/lock?key=order:42", "/audit"] {
        let page = get(&service, &format!("/locks{path}")).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        page.has("The lock server cannot be reached");
        page.has(&server.port().to_string());
        page.has_not("hush-hush");
        page.has("href=\"./");
    }
    // The page of this process needs no server.
    let process = get(&service, "/locks/process").await;
    assert_eq!(process.status, StatusCode::OK);

    let json = get(&service, "/locks/api/locks").await;
    assert_eq!(json.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(json.json()["error"].is_string(), "{json:?}");
}

/// Every accepted URL that contains an unencoded password.
#[tokio::test]
async fn secrets_of_urls_are_not_on_the_page() {
    let builders = urls_with_secrets().step_by(19).map(|url| {
        let builder = patient(url);
        builder.command_timeout(ms(10))
    });
    let clients: Vec<_> = builders.filter_map(|it| it.build().ok()).collect();
    assert!(clients.len() > 20, "{} URLs", clients.len());
    for client in clients {
        let service = service(lock_web::router(client));
        for path in ["", "/process", "/lock?key=order:42", "/api/locks"] {
            let page = get(&service, &format!("/locks{path}")).await;
            assert!(!shows_secret(&page.body), "{path}: {}", page.body);
        }
    }
}

#[tokio::test]
async fn refusing_server_is_reported() {
    let server = RedisServer::start();
    let rights = [
        "ACL",
        "SETUSER",
        "blind",
        "on",
        ">blind",
        "~*",
        "&*",
        "+ping",
        "+subscribe",
    ];
    ask::<()>(&mut server.connection(), &rights);
    let client = client(format!("redis://blind:blind@127.0.0.1:{}", server.port()));
    let service = service(lock_web::router(client));
    let page = get(&service, "/locks").await;
    assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{page:?}");
    page.has("The lock server refuses");
}

#[tokio::test]
async fn pattern_within_its_bounds_is_asked() {
    let service = service(lock_web::router(LockClient::memory()));
    for pattern in ["k".repeat(256), "*a*b*c*".to_owned()] {
        let page = get(&service, &address("", "match", &pattern)).await;
        assert_eq!(page.status, StatusCode::OK, "{pattern}: {page:?}");
        page.has(&pattern);
    }
}

#[tokio::test]
async fn request_that_makes_no_sense_is_refused() {
    let service = service(lock_web::router(LockClient::memory()));
    for (address, status) in [
        (address("/lock", "key", ""), 400),
        (address("/lock", "key", &"k".repeat(513)), 400),
        (address("/lock", "key", "a}b{c"), 400),
        ("/locks/lock".to_owned(), 400),
        ("/locks/lock?key=a&key=b".to_owned(), 400),
        (address("", "from", "0 COUNT 1000000.."), 400),
        (address("", "match", &"k".repeat(257)), 400),
        (address("", "match", "*a*a*a*a*b"), 400),
        (address("/list", "match", "*****"), 400),
        (address("/api/locks", "match", &"\\*".repeat(5)), 400),
        ("/locks/api/lock".to_owned(), 400),
        ("/locks?waiting=yes".to_owned(), 400),
        ("/locks?waiting=0".to_owned(), 400),
        ("/locks?pattern=order:*".to_owned(), 400),
        ("/locks/api/locks?key=order:42".to_owned(), 400),
        ("/locks/lock?key=a&reference=1".to_owned(), 400),
        ("/locks/audit?since=1h".to_owned(), 400),
        ("/locks/api/audit?holder=a".to_owned(), 400),
        ("/locks/process?key=a".to_owned(), 400),
        ("/locks/api/process?key=a".to_owned(), 400),
        ("/locks/nothing".to_owned(), 404),
        ("/locks/api/nothing".to_owned(), 404),
    ] {
        let answer = get(&service, &address).await;
        assert_eq!(answer.status.as_u16(), status, "{address}: {answer:?}");
        if address.contains("/api/") {
            assert!(answer.json()["error"].is_string(), "{address}");
        } else {
            answer.has("</html>");
        }
    }
}
