//! Revocations through the pages.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use harness::{LONG, RedisServer, ask, client, exists, soon};
use lock_runtime::LockClient;
use lock_runtime::inspect::AuditEntry;
use lock_web::LockWeb;

use crate::{Answer, address, get, holder, send, service};

/// The extension that a service's authentication adds to a request.
#[derive(Clone)]
struct User(&'static str);

/// A service that recognises an operator by the header of a session.
fn with_operators(client: LockClient) -> Router {
    let locks = LockWeb::new(client)
        .operator(|request| {
            let user = request.extensions.get::<User>()?;
            Some(user.0.to_owned())
        })
        .into_router();
    let sessions = axum::middleware::map_request(async |mut request: Request<Body>| {
        if request.headers().contains_key("session") {
            request.extensions_mut().insert(User("ann@example.com"));
        }
        request
    });
    service(locks).layer(sessions)
}

/// The form of a lock's page, as a browser sends it.
struct Form {
    key: &'static str,
    reference: String,
    body: String,
    headers: Vec<(&'static str, &'static str)>,
}

impl Form {
    fn new(key: &'static str, seen: impl ToString) -> Form {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("reason", "stuck since noon")
            .append_pair("confirm", key);
        Form {
            key,
            reference: seen.to_string(),
            body: body.finish(),
            headers: vec![("session", "ann"), ("sec-fetch-site", "same-origin")],
        }
    }

    fn headers(self, headers: &[(&'static str, &'static str)]) -> Form {
        Form {
            headers: headers.to_vec(),
            ..self
        }
    }

    fn body(self, body: &str) -> Form {
        Form {
            body: body.to_owned(),
            ..self
        }
    }

    async fn send(self, service: &Router) -> Answer {
        let address = format!(
            "{}&reference={}",
            address("/revoke", "key", self.key),
            self.reference
        );
        let mut request = Request::post(address)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("host", "ops.example");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        send(service, request.body(Body::from(self.body)).unwrap()).await
    }
}

async fn audit(client: &LockClient) -> Vec<AuditEntry> {
    client
        .audit()
        .next_page()
        .await
        .unwrap()
        .unwrap_or_default()
}

async fn get_as_operator(service: &Router, address: &str) -> Answer {
    let request = Request::get(address).header("session", "ann");
    send(service, request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn operator_takes_the_shown_lock_and_the_audit_names_them() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "api-7", "import").await;
    let operator = client(server.url());
    let service = with_operators(operator.clone());
    let page = get_as_operator(&service, "/locks/lock?key=import").await;
    let token = guard.fencing_token().await.unwrap();
    page.has(&format!(
        "<form method=\"post\" action=\"./revoke?key=import&amp;reference={token}\">"
    ));
    page.has("ann@example.com");
    get(&service, "/locks/lock?key=import")
        .await
        .has_not("<form method=\"post\"");

    let answer = Form::new("import", token).send(&service).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    answer.has("It is free.");
    soon(guard.lost()).await;
    let lost = guard.release().await.unwrap_err().to_string();
    assert!(
        lost.contains("revoked by ann@example.com: stuck since noon"),
        "{lost}"
    );
    let lines = audit(&operator).await;
    let lines: Vec<_> = lines
        .iter()
        .map(|line| (&*line.by, line.outcome.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            ("ann@example.com", "intended"),
            ("ann@example.com", "freed")
        ]
    );
    let answer = Form::new("import", token).send(&service).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    answer.has("The lock is free, and nothing was done.");
}

#[tokio::test]
async fn lock_of_a_holder_without_a_token_is_shown_and_revoked() {
    let server = RedisServer::start();
    let holder = client(server.url());
    let guard = holder.lock("import").acquire().await.unwrap();
    let operator = client(server.url());
    let service = with_operators(operator.clone());
    get(&service, "/locks").await.has("<bdi>import</bdi>");
    let page = get_as_operator(&service, "/locks/lock?key=import").await;
    page.has("<dt>Token</dt><dd>none</dd>");
    page.has_not("The last token");
    let state = operator.inspect("import").await.unwrap();
    let seen = state.holders[0].reference.expect("it can be revoked");
    page.has(&format!("<dt>Reference</dt><dd>{seen}</dd>"));
    let answer = Form::new("import", seen).send(&service).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    answer.has("It is free.");
    soon(guard.lost()).await;
    assert!(guard.fencing_token().await.unwrap_err().is_lost());
    for line in audit(&operator).await {
        assert_eq!(line.token, None, "{line:?}");
    }
}

#[tokio::test]
async fn waiter_gets_the_lock_that_is_revoked() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "api-7", "import").await;
    let waiter = client(server.url());
    let waiting = tokio::spawn(waiter.lock("import").wait(LONG).acquire());
    crate::queued(&waiter, "import", 1).await;
    let token = guard.fencing_token().await.unwrap();
    let answer = Form::new("import", token)
        .send(&with_operators(client(server.url())))
        .await;
    answer.has("A waiter has it now.");
    let next = harness::served(waiting).await;
    assert!(next.fencing_token().await.unwrap() > token);
    // Pages have words, and JSON has names.
    let service = with_operators(client(server.url()));
    let page = get(&service, "/locks/audit").await;
    page.has("handed off to a waiter");
    page.has_not("handed_off");
    let json = get(&service, "/locks/api/audit").await.json();
    assert_eq!(json["entries"][0]["outcome"], "handed_off");
}

#[tokio::test]
async fn lock_with_another_holder_is_not_revoked() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "api-7", "import").await;
    let service = with_operators(client(server.url()));
    let shown = guard.fencing_token().await.unwrap();
    guard.release().await.unwrap();
    // The tokens of one client's local turns belong to one grant, so another client takes the lock.
    let (next, guard) = holder(&server, "api-8", "import").await;
    let answer = Form::new("import", shown).send(&service).await;
    assert_eq!(answer.status, StatusCode::CONFLICT, "{answer:?}");
    answer.has("The lock has another holder by now, and nothing was done.");
    answer.has("api-8@");
    answer.has(&guard.fencing_token().await.unwrap().to_string());
    assert!(next.inspect("import").await.unwrap().is_held());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn revocation_with_an_unknown_outcome_is_not_repeated() {
    let mut server = RedisServer::start();
    let (client, guard) = holder(&server, "api-7", "import").await;
    let service = with_operators(client);
    server.kill9();
    let answer = Form::new("import", guard.fencing_token().await.unwrap())
        .send(&service)
        .await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{answer:?}");
    answer.has("may have been carried out");
    answer.has("href=\"./lock?key=import\"");
    answer.has("href=\"./audit?key=import\"");
    answer.has_not("Load the page again");
    // A page that only reads has changed nothing.
    let page = get(&service, "/locks/lock?key=import").await;
    page.has("Load the page again");
    page.has_not("may have been carried out");
    // No lock can have this key.
    let answer = Form::new("a}b{c", 1).send(&service).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{answer:?}");
    answer.has_not("may have been carried out");
}

#[tokio::test]
async fn request_of_another_sites_page_does_nothing() {
    let server = RedisServer::start();
    let (client, guard) = holder(&server, "api-7", "import").await;
    let service = with_operators(client.clone());
    let token = guard.fencing_token().await.unwrap();
    for headers in [
        &[("session", "ann")][..],
        &[("session", "ann"), ("sec-fetch-site", "cross-site")],
        &[("session", "ann"), ("sec-fetch-site", "same-site")],
        &[("session", "ann"), ("origin", "https://evil.example")],
        &[("session", "ann"), ("origin", "null")],
        // The sender is no operator.
        &[("sec-fetch-site", "same-origin")],
    ] {
        let answer = Form::new("import", token)
            .headers(headers)
            .send(&service)
            .await;
        assert_eq!(
            answer.status,
            StatusCode::FORBIDDEN,
            "{headers:?}: {answer:?}"
        );
    }
    assert!(guard.is_valid());
    assert!(audit(&client).await.is_empty());
    let same = [("session", "ann"), ("origin", "https://ops.example")];
    let answer = Form::new("import", token)
        .headers(&same)
        .send(&service)
        .await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn form_that_is_not_filled_in_does_nothing() {
    let server = RedisServer::start();
    let (client, guard) = holder(&server, "api-7", "import").await;
    let service = with_operators(client.clone());
    let token = guard.fencing_token().await.unwrap();
    for body in [
        "",
        "reason=x",
        "confirm=import",
        "reason=x&confirm=imports",
        "reason=+&confirm=import",
        "reason=x&confirm=",
    ] {
        let answer = Form::new("import", token).body(body).send(&service).await;
        assert!(answer.status.is_client_error(), "{body}: {answer:?}");
        // The page links back to the form.
        answer.has("<a href=\"./lock?key=import\">The lock now</a>");
    }
    let answer = Form::new("import", "x").send(&service).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    answer.has("lock?key=import");
    let long = format!("confirm=import&reason={}", "x".repeat(100_000));
    let answer = Form::new("import", token).body(&long).send(&service).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(guard.is_valid());
    assert!(audit(&client).await.is_empty());
}

#[tokio::test]
async fn operator_without_a_name_may_not_revoke() {
    let client = LockClient::memory();
    let guard = client.lock("import").acquire().await.unwrap();
    let locks = LockWeb::new(client).operator(|_| Some(" ".to_owned()));
    let service = service(locks.into_router());
    let answer = Form::new("import", guard.fencing_token().await.unwrap())
        .send(&service)
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(guard.is_valid());
}

#[tokio::test]
async fn foreign_record_is_revoked_by_the_shown_hash() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    ask::<()>(connection, &["SET", "lock:import", "mine", "PX", "60000"]);
    let service = with_operators(client(server.url()));
    let json = get(&service, "/locks/api/lock?key=import").await.json();
    let seen = json["holders"][0]["reference"].as_str().unwrap().to_owned();
    assert!(seen.starts_with("record:"), "{json}");
    get_as_operator(&service, "/locks/lock?key=import")
        .await
        .has("action=\"./revoke?key=import&amp;reference=record%3A");
    let answer = Form::new("import", "record:0123456789abcdef")
        .send(&service)
        .await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(exists(connection, "lock:import"));
    let answer = Form::new("import", seen).send(&service).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    assert!(!exists(connection, "lock:import"));
}

#[tokio::test]
async fn key_with_line_ends_is_revoked() {
    let server = RedisServer::start();
    let key = "import\r\n\u{1b} ";
    let (client, guard) = holder(&server, "api-7", key).await;
    let service = with_operators(client);
    let form = Form::new(key, guard.fencing_token().await.unwrap());
    // The key as the page shows it, since nobody can type the original.
    let form = form.body("reason=x&confirm=import%5Cu%7Bd%7D%5Cu%7Ba%7D%5Cu%7B1b%7D+");
    let answer = form.send(&service).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    soon(guard.lost()).await;
}
