//! The pages in a real browser.

mod driver;

use std::net::Ipv4Addr;
use std::time::Duration;

use axum::Router;
use harness::{RedisServer, ask, client, patient, soon};
use lock_runtime::inspect::{Revocation, Revoked};
use lock_runtime::{LockClient, LockGuard};
use lock_web::LockWeb;
use tokio::net::TcpListener;

use crate::{address, holder, queued, service};
use driver::{Browser, DESKTOP, PHONE, Size};

/// Longer than a busy machine takes to show all pages.
const ALL_PAGES: Duration = Duration::from_secs(3600);

/// Serves a router, and returns its address.
async fn serve(service: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, service).await });
    format!("http://{address}")
}

/// The page for an operator.
fn with_operator(client: LockClient) -> Router {
    let locks = LockWeb::new(client).operator(|_| Some("ann@example.com".to_owned()));
    service(locks.into_router())
}

/// Locks of all kinds on a server, held until this is dropped.
struct Scene {
    server: RedisServer,
    client: LockClient,
    _guards: Vec<LockGuard>,
}

impl Scene {
    async fn new() -> Scene {
        let server = RedisServer::start();
        let builder = patient(server.url());
        let client = builder.label("warehouse-1").build().unwrap();
        let mut guards = Vec::new();
        for number in 0..12 {
            let key = format!("order:{}", 4_200 + 37 * number);
            guards.push(client.lock(key).acquire().await.unwrap());
        }
        let long = format!("tenant:{}:report", "0123456789abcdef".repeat(8));
        for key in [
            "report:daily",
            "日本語:在庫",
            "a\nb\u{1b}[31m\u{202e}c",
            &*long,
        ] {
            guards.push(client.lock(key).acquire().await.unwrap());
        }
        let supplier = client.lock("supplier");
        guards.push(supplier.permits(5).take(2).acquire().await.unwrap());
        for _ in 0..3 {
            guards.push(client.lock("catalogue").read().acquire().await.unwrap());
        }
        let connection = &mut server.connection();
        ask::<()>(connection, &["SET", "lock:legacy", "mine", "PX", "600000"]);
        ask::<()>(connection, &["SET", "lock:forgotten", "mine"]);
        ask::<i64>(connection, &["RPUSH", "lock:strange", "mine"]);
        let revocation = Revocation::new("ann@example.com", "stuck since noon, see ticket 4711");
        let (_holder, guard) = holder(&server, "api-7", "import").await;
        let revoked = client.revoke("import", guard.fencing_token().await.unwrap(), revocation);
        let revoked = revoked.await;
        assert!(matches!(revoked, Ok(Revoked::Done(_))), "{revoked:?}");
        Scene {
            server,
            client,
            _guards: guards,
        }
    }
}

/// Asserts that nothing on the page is beyond its right edge, so that a reader need not scroll sideways.
#[track_caller]
fn fits(browser: &Browser, size: Size, page: &str) {
    let beyond = browser.run(
        "const width = document.documentElement.clientWidth;
        const all = [...document.querySelectorAll('body *')];
        const beyond = all.filter(each => each.getBoundingClientRect().right > width + 0.5);
        return [width, document.documentElement.scrollWidth, beyond.map(each => each.outerHTML.slice(0, 200))]",
    );
    assert_eq!(beyond[0], size.width, "{page}: {beyond}");
    assert_eq!(beyond[1], size.width, "{page} on a {}: {beyond}", size.name);
    assert_eq!(
        beyond[2],
        serde_json::json!([]),
        "{page} on a {}",
        size.name
    );
    // The page's policy allows its style sheet.
    let style = browser.run("return getComputedStyle(document.body).marginTop");
    assert_eq!(style, "0px", "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_fit_a_phone_and_a_desktop() {
    let scene = Scene::new().await;
    let mut waiting = Vec::new();
    for (count, label) in [(1, "warehouse-2"), (2, "warehouse-3")] {
        let builder = patient(scene.server.url()).label(label);
        let waiter = builder.build().unwrap();
        let lock = waiter.lock("order:4200").wait(ALL_PAGES);
        waiting.push(tokio::spawn(lock.acquire()));
        queued(&waiter, "order:4200", count).await;
    }
    let site = serve(with_operator(scene.client.clone())).await;
    let mut away = RedisServer::start();
    let lost = client(away.url());
    away.kill9();
    let lost = serve(service(lock_web::router(lost))).await;
    let long = format!("tenant:{}:report", "0123456789abcdef".repeat(8));
    for (size, is_dark) in [
        (PHONE, false),
        (DESKTOP, false),
        (PHONE, true),
        (DESKTOP, true),
    ] {
        let browser = Browser::start(size, is_dark);
        for (page, address, text) in [
            ("list", format!("{site}/locks"), "order:4200"),
            (
                "empty",
                format!("{site}/locks?match=none*"),
                "No held lock matches.",
            ),
            (
                "lock",
                format!("{site}{}", address("/lock", "key", "order:4200")),
                "2 clients wait",
            ),
            (
                "shared",
                format!("{site}{}", address("/lock", "key", "supplier")),
                "Permits",
            ),
            (
                "foreign",
                format!("{site}{}", address("/lock", "key", "forgotten")),
                "never expires",
            ),
            (
                "long",
                format!("{site}{}", address("/lock", "key", &long)),
                &*long,
            ),
            (
                "free",
                format!("{site}{}", address("/lock", "key", "order:1")),
                "free",
            ),
            ("process", format!("{site}/locks/process"), "catalogue"),
            ("audit", format!("{site}/locks/audit"), "stuck since noon"),
            (
                "missing",
                format!("{site}/locks/nothing"),
                "There is no such page",
            ),
            (
                "away",
                format!("{lost}/locks"),
                "The lock server cannot be reached",
            ),
        ] {
            browser.open(&address);
            browser.loaded(text);
            if page == "lock" || page == "foreign" {
                browser.click("details.revoke summary");
            }
            let theme = if is_dark { "dark" } else { "light" };
            browser.keep_picture(&format!("{page}-{}-{theme}", size.name));
            fits(&browser, size, page);
        }
    }
    waiting.iter().for_each(|waiting| waiting.abort());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_finds_a_lock_and_revokes_it() {
    let server = RedisServer::start();
    let (client, guard) = holder(&server, "api-7", "import:a&b").await;
    let _other = client.lock("order:42").acquire().await.unwrap();
    let site = serve(with_operator(client)).await;
    let browser = Browser::start(PHONE, false);
    browser.open(&format!("{site}/locks"));
    browser.loaded("2 locks");
    browser.write("input[name=match]", "import*");
    browser.click(".search button");
    browser.loaded("1 lock");
    browser.click("td.key a");
    browser.loaded("Take this lock from");
    let fill_in = |confirm| {
        browser.click("details.revoke summary");
        browser.write("input[name=reason]", "stuck");
        browser.write("input[name=confirm]", confirm);
        browser.click("button.danger");
    };
    fill_in("another key");
    browser.loaded("The typed key is not the lock's.");
    assert!(guard.is_valid());

    browser.open(&format!("{site}{}", address("/lock", "key", "import:a&b")));
    fill_in("import:a&b");
    browser.loaded("It is free.");
    browser.keep_picture("revoked-phone-light");
    fits(&browser, PHONE, "revoked");
    soon(guard.lost()).await;
    browser.click(".links a:last-child");
    let text = browser.loaded("For the lock import:a&b");
    assert!(text.contains("stuck") && text.contains("freed"), "{text}");
}

/// Another site's page has a copy of the operator's form, and the operator is logged in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_of_another_site_revokes_nothing() {
    let server = RedisServer::start();
    let (client, guard) = holder(&server, "api-7", "import").await;
    let site = serve(with_operator(client)).await;
    let action = format!(
        "{site}/locks/revoke?key=import&reference={}",
        guard.fencing_token().await.unwrap()
    );
    let form = format!(
        "<form method=post action='{action}'><input name=reason value=x><input name=confirm value=import>\
         <button>Win a prize</button></form>"
    );
    let page = async move || axum::response::Html(form);
    let other = serve(Router::new().route("/", axum::routing::get(page))).await;
    let browser = Browser::start(DESKTOP, false);
    // Another port of this machine is the same site; another name of it is another site.
    for other in [other.clone(), other.replace("127.0.0.1", "localhost")] {
        browser.open(&other);
        browser.click("button");
        browser.loaded("not sent by a page of this site");
        assert!(guard.is_valid(), "{other}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_in_a_key_or_a_label_runs() {
    let server = RedisServer::start();
    let key = "<script>window.ran = 1</script>\"'><img src=x onerror='window.ran = 2'>";
    let (client, _guard) = holder(&server, "<svg onload='window.ran = 3'>", key).await;
    let site = serve(with_operator(client)).await;
    let browser = Browser::start(DESKTOP, false);
    for address in [
        "/locks".to_owned(),
        address("/lock", "key", key),
        address("/audit", "key", key),
    ] {
        browser.open(&format!("{site}{address}"));
        assert!(browser.text().contains(key), "{address}");
        let made = "return [window.ran ?? null, document.scripts.length, document.images.length]";
        assert_eq!(
            browser.run(made),
            serde_json::json!([null, 0, 0]),
            "{address}"
        );
    }
}
