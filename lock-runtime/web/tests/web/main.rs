//! The router, against real servers.

mod api;
mod browser;
mod failures;
mod headers;
mod links;
mod pages;
mod revoking;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use harness::{LONG, RedisServer, patient};
use lock_runtime::{LockClient, LockGuard};
use serde_json::Value;
use tower::ServiceExt;

/// A complete response.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    #[track_caller]
    fn has(&self, text: &str) {
        assert!(self.body.contains(text), "no `{text}` in\n{}", self.body);
    }

    #[track_caller]
    fn has_not(&self, text: &str) {
        assert!(!self.body.contains(text), "`{text}` in\n{}", self.body);
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("it is JSON")
    }
}

/// A service with the pages at `/locks`.
fn service(locks: Router) -> Router {
    Router::new().nest_service("/locks", locks)
}

async fn send(service: &Router, request: Request<Body>) -> Answer {
    let response = service.clone().oneshot(request).await.expect("it answers");
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("it has an end");
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).expect("it is text"),
    }
}

async fn get(service: &Router, address: &str) -> Answer {
    let request = Request::get(address).body(Body::empty());
    send(service, request.expect("it is an address")).await
}

/// The address of a page, with one query field.
fn address(path: &str, field: &str, value: &str) -> String {
    let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
    format!("/locks{path}?{field}={value}")
}

/// A service on this server that holds a lock.
async fn holder(server: &RedisServer, label: &str, key: &str) -> (LockClient, LockGuard) {
    let builder = patient(server.url()).label(label);
    let client = builder.build().expect("the URL names a server");
    let guard = client.lock(key).fenced().acquire().await;
    let guard = guard.expect("the lock is free");
    (client, guard)
}

/// Waits until `count` clients wait for a lock.
async fn queued(client: &LockClient, key: &str, count: usize) {
    let is_queued = async || client.inspect(key).await.unwrap().waiter_count() == count;
    harness::eventually("waiters", LONG, is_queued).await;
}
