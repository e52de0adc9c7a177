//! The headers of all answers.

use axum::body::Body;
use axum::http::{Method, Request};
use lock_runtime::LockClient;
use lock_web::LockWeb;

use crate::{get, send, service};

#[tokio::test]
async fn every_response_forbids_unneeded_content() {
    let service = service(lock_web::router(LockClient::memory()));
    for path in [
        "",
        "/lock?key=order:42",
        "/process",
        "/audit",
        "/style.css",
        "/nothing",
        "/lock",
        "/revoke",
        "/api/locks",
        "/api/nothing",
    ] {
        let answer = get(&service, &format!("/locks{path}")).await;
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        let rules: Vec<&str> = policy.split("; ").collect();
        for rule in [
            "default-src 'none'",
            "style-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(rules.contains(&rule), "{path}: {policy}");
        }
        assert_eq!(rules.len(), 5, "{path}: {policy}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("x-frame-options"), "DENY", "{path}");
        let stored = header("cache-control");
        assert_eq!(stored == "no-store", path != "/style.css", "{path}");
        answer.has_not("style=");
    }
}

#[tokio::test]
async fn only_reading_is_allowed_without_an_operator() {
    let reading = service(lock_web::router(LockClient::memory()));
    let naming = LockWeb::new(LockClient::memory()).operator(|_| None);
    let naming = service(naming.into_router());
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        for path in ["", "/lock?key=a", "/revoke?key=a&reference=1", "/nothing"] {
            for (service, name) in [(&reading, "reading"), (&naming, "naming")] {
                let request = Request::builder()
                    .method(&method)
                    .uri(format!("/locks{path}"))
                    .header("sec-fetch-site", "same-origin")
                    .body(Body::empty());
                let answer = send(service, request.unwrap()).await;
                let is_revocation = method == Method::POST && path.starts_with("/revoke");
                let status = match (name, path) {
                    ("naming", "/nothing") => 404,
                    ("naming", _) if is_revocation => 403,
                    _ => 405,
                };
                assert_eq!(answer.status, status, "{name}: {method} {path}");
            }
        }
    }
    assert_eq!(get(&reading, "/locks/revoke").await.status, 405);
}

#[tokio::test]
async fn load_by_another_sites_page_is_refused() {
    let service = service(lock_web::router(LockClient::memory()));
    for path in [
        "",
        "/list?match=order:*",
        "/lock?key=a",
        "/api/locks",
        "/api/audit",
    ] {
        for (site, mode, status) in [
            ("cross-site", Some("no-cors"), 403),
            ("cross-site", Some("cors"), 403),
            ("cross-site", None, 403),
            ("cross-site", Some("navigate"), 200),
            ("same-origin", Some("cors"), 200),
            ("none", Some("navigate"), 200),
        ] {
            let mut request = Request::get(format!("/locks{path}")).header("sec-fetch-site", site);
            if let Some(mode) = mode {
                request = request.header("sec-fetch-mode", mode);
            }
            let answer = send(&service, request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, status, "{path}: {site}, {mode:?}");
        }
    }
}

#[tokio::test]
async fn head_of_a_page_is_its_headers() {
    let service = service(lock_web::router(LockClient::memory()));
    let request = Request::head("/locks").body(Body::empty());
    let answer = send(&service, request.unwrap()).await;
    assert_eq!((answer.status.as_u16(), &*answer.body), (200, ""));
}
