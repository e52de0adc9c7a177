//! The content of the pages.

use axum::http::StatusCode;
use harness::{LONG, RedisServer, VIEWER_RIGHTS, ask, client, patient};
use lock_runtime::{LockClient, LockError, distributed_lock};

use crate::{address, get, holder, queued, service};

#[tokio::test]
async fn list_has_a_line_for_each_selected_lock() {
    let server = RedisServer::start();
    let (_client, order) = holder(&server, "api-7", "order:42").await;
    let (_other, _stock) = holder(&server, "api-8", "stock:1").await;
    let waiter = client(server.url());
    let waiting = tokio::spawn(waiter.lock("order:42").wait(LONG).acquire());
    queued(&waiter, "order:42", 1).await;

    let service = service(lock_web::router(client(server.url())));
    let all = get(&service, "/locks").await;
    assert_eq!(all.status, StatusCode::OK);
    for text in ["order:42", "stock:1", "api-7@", "api-8@"] {
        all.has(text);
    }
    all.has(&order.fencing_token().await.unwrap().to_string());
    all.has("2 locks");
    for (query, text) in [
        ("match=order:*", "order:42"),
        ("holder=api-8", "stock:1"),
        ("waiting=1", "order:42"),
        ("match=&holder=&waiting=1", "order:42"),
    ] {
        let some = get(&service, &format!("/locks?{query}")).await;
        some.has(&format!("<bdi>{text}</bdi>"));
        some.has("1 lock<");
    }
    get(&service, "/locks?match=none*")
        .await
        .has("No held lock matches.");
    waiting.abort();
}

#[tokio::test]
async fn lock_is_shown_with_its_holder_and_its_waiters_in_their_order() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "api-7", "order:42").await;
    let mut waiting = Vec::new();
    for (count, label) in [(1, "first-in-line"), (2, "second-in-line")] {
        let builder = patient(server.url()).label(label);
        let waiter = builder.build().unwrap();
        waiting.push(tokio::spawn(waiter.lock("order:42").wait(LONG).acquire()));
        queued(&waiter, "order:42", count).await;
    }
    let service = service(lock_web::router(client(server.url())));
    let page = get(&service, "/locks/lock?key=order:42").await;
    assert_eq!(page.status, StatusCode::OK);
    for text in ["held", "api-7@", "2 clients wait"] {
        page.has(text);
    }
    page.has(&guard.fencing_token().await.unwrap().to_string());
    let places = ["first-in-line@", "second-in-line@"].map(|text| page.body.find(text));
    assert!(places[0].is_some() && places[0] < places[1], "{places:?}");
    // Nobody may revoke the lock here.
    page.has_not("<form method=\"post\"");
    waiting.iter().for_each(|waiting| waiting.abort());
}

#[tokio::test]
async fn record_of_another_program_is_explained() {
    let server = RedisServer::start();
    let service = service(lock_web::router(client(server.url())));
    let connection = &mut server.connection();
    for (command, words) in [
        (
            &["SET", "lock:x", "mine", "PX", "60000"][..],
            "A record of another program",
        ),
        (&["SET", "lock:x", "mine"], "never expires"),
        (&["RPUSH", "lock:x", "mine"], "a type that no lock has"),
    ] {
        ask::<()>(connection, &["DEL", "lock:x"]);
        ask::<redis::Value>(connection, command);
        get(&service, "/locks/lock?key=x").await.has(words);
        get(&service, "/locks").await.has("lock?key=x");
    }
}

#[tokio::test]
async fn lock_that_nobody_holds_is_free() {
    let server = RedisServer::start();
    let service = service(lock_web::router(client(server.url())));
    let page = get(&service, "/locks/lock?key=order:42").await;
    assert_eq!(page.status, StatusCode::OK);
    page.has("free");
    page.has("This lock is unknown");
    get(&service, "/locks").await.has("No lock is held.");
    // A key without a `*` is a search that finds nothing, unless the lock is held.
    let page = get(&service, "/locks?match=order:42").await;
    page.has("No held lock matches.");
    page.has("/lock?key=order%3A42\">Show this lock");
    page.has("/list?match=*order%3A42*\"");
    get(&service, "/locks?match=order:*")
        .await
        .has_not("Show this lock");
    // A lock that was held before is remembered.
    let (_client, guard) = holder(&server, "api-7", "order:42").await;
    guard.release().await.unwrap();
    let page = get(&service, "/locks/lock?key=order:42").await;
    page.has("free");
    page.has_not("This lock is unknown");
}

#[tokio::test]
async fn runs_of_a_lock_are_on_its_page() {
    let server = RedisServer::start();
    let builder = patient(server.url()).label("api-<b>7");
    let client = builder.build().unwrap();
    let service = service(lock_web::router(client.clone()));
    let lock = client.lock("report").runs(5);
    let page = get(&service, "/locks/lock?key=report").await;
    page.has_not("Last runs");
    lock.clone().run(async |_| ()).await.unwrap();
    lock.clone()
        .run(async |guard| guard.mark_failed())
        .await
        .unwrap();
    let _guard = lock.acquire().await.unwrap();
    let page = get(&service, "/locks/lock?key=report").await;
    page.has("Last runs");
    let places = [">running<", ">failed<", ">done<"].map(|outcome| page.body.find(outcome));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?}"
    );
    page.has("api-&lt;b&gt;7@");
    // The JSON has the same.
    let runs = client.runs("report").await.unwrap();
    let json = get(&service, "/locks/api/runs?key=report").await.json();
    assert_eq!(json, serde_json::json!({ "runs": runs }));
    // Whoever may not read them sees the lock.
    let rights: Vec<&str> = VIEWER_RIGHTS
        .iter()
        .copied()
        .filter(|it| *it != "+xrange")
        .collect();
    let viewer = patient(server.user("viewer", "s3cret", &rights)).build();
    let viewer = crate::service(lock_web::router(viewer.unwrap()));
    let page = get(&viewer, "/locks/lock?key=report").await;
    page.has("held");
    page.has("Its runs cannot be read");
}

#[distributed_lock(key = "report:<day>", client = client)]
async fn report(
    client: &LockClient,
    day: u32,
    inside: impl Future<Output = ()>,
) -> Result<(), LockError> {
    inside.await;
    Ok(())
}

#[tokio::test]
async fn locks_of_a_memory_client_are_shown_too() {
    let client = LockClient::memory();
    let service = service(lock_web::router(client.clone()));
    let guard = client.lock("order:42").acquire().await.unwrap();
    get(&service, "/locks").await.has("order:42");
    get(&service, "/locks/lock?key=order:42")
        .await
        .has(&guard.fencing_token().await.unwrap().to_string());
}

#[tokio::test]
async fn process_has_its_own_locks_with_their_functions() {
    let server = RedisServer::start();
    let (_client, _guard) = holder(&server, "api-8", "order:42").await;
    let client = client(server.url());
    let service = service(lock_web::router(client.clone()));
    get(&service, "/locks/process")
        .await
        .has("This process holds no lock.");
    let inside = async {
        let page = get(&service, "/locks/process").await;
        page.has("report:7");
        page.has("report</code>");
        page.has_not("order:42");
    };
    report(&client, 7, inside).await.unwrap();
}

#[tokio::test]
async fn text_from_elsewhere_is_never_markup() {
    let server = RedisServer::start();
    let key = "<script>alert('\"1&amp;\")</script>\u{1b}[31m\n\u{202e}";
    let label = "<img src=x onerror=alert(2)>";
    let (_client, _guard) = holder(&server, label, key).await;
    let waiter = patient(server.url()).label(label);
    let waiter = waiter.build().unwrap();
    let waiting = tokio::spawn(waiter.lock(key).wait(LONG).acquire());
    queued(&waiter, key, 1).await;
    let router = lock_web::LockWeb::new(waiter.clone())
        .operator(|_| Some("<b>ann</b>".to_owned()))
        .into_router();
    let service = service(router);
    for address in [
        "/locks".to_owned(),
        address("", "match", "<script>"),
        address("", "holder", "\"><script>"),
        address("/lock", "key", key),
        address("/lock", "key", &"<script>".repeat(100)),
        "/locks/process".to_owned(),
        address("/audit", "key", key),
        address("", "from", "<script>"),
        "/locks/%3Cscript%3E".to_owned(),
    ] {
        let page = get(&service, &address).await;
        for markup in ["<script", "<img", "<b>", "\u{1b}", "\u{202e}"] {
            page.has_not(markup);
        }
    }
    let page = get(&service, "/locks").await;
    page.has("&lt;script&gt;alert('&quot;1&amp;amp;&quot;)&lt;/script&gt;");
    page.has("<i class=\"escape\">\\u{1b}</i>[31m");
    page.has("&lt;img src=x onerror=alert(2)&gt;");
    // The link leads to this key.
    get(&service, &address("/lock", "key", key))
        .await
        .has("held");
    waiting.abort();
}

/// Right-to-left letters would reorder the row, although they are printable.
#[tokio::test]
async fn text_of_the_audit_keeps_to_its_place() {
    let server = RedisServer::start();
    for outcome in ["\u{5d0}\u{1b}", "failed: \u{5d0}\u{1b}"] {
        let entry = [
            "XADD",
            "{lock:}:audit",
            "*",
            "key",
            "order:42",
            "action",
            "\u{5d1}<b>",
            "outcome",
            outcome,
        ];
        let _: String = ask(&mut server.connection(), &entry);
    }
    let service = service(lock_web::router(client(server.url())));
    let page = get(&service, "/locks/audit").await;
    let outcome = "<bdi>\u{5d0}<i class=\"escape\">\\u{1b}</i></bdi></strong>";
    page.has(&format!("<bdi>\u{5d1}&lt;b&gt;</bdi>: <strong>{outcome}"));
    page.has(&format!("<strong>failed: {outcome}"));
}

#[tokio::test]
async fn permissions_of_a_viewer_are_enough_for_the_pages() {
    let server = RedisServer::start();
    let (_client, _guard) = holder(&server, "api-7", "order:42").await;
    let user = ["ACL", "SETUSER", "viewer", "reset", "on", ">viewer"];
    let names = ["~lock:*", "~{lock:*", "resetchannels", "&lock:*"];
    let commands = VIEWER_RIGHTS.iter().filter(|right| right.starts_with('+'));
    let rule = user.iter().chain(&names).chain(commands);
    let rule: Vec<&str> = rule.copied().collect();
    ask::<()>(&mut server.connection(), &rule);
    let url = server.url().replace("://", "://viewer:viewer@");
    let service = service(lock_web::router(client(url)));
    for path in ["", "/lock?key=order:42", "/process", "/audit"] {
        let page = get(&service, &format!("/locks{path}")).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {page:?}");
    }
    get(&service, "/locks").await.has("api-7@");
}
