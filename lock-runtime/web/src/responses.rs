//! Adds headers to all responses, and pages to failures.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::base::Base;
use crate::failure::Failure;
use crate::operator::is_load_by_another_site;
use crate::site::Site;
use crate::{pages, routes};

/// No script, no frame, no third-party content.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// The headers of all responses.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // For browsers without `frame-ancestors`.
    (X_FRAME_OPTIONS, "DENY"),
    // Other sites must not learn keys. With `no-referrer`, browsers would hide a form's origin from this site, too.
    (REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Answers a request: refuses methods that nobody may use and requests from other sites' pages, renders the pages of failures,
/// and adds the headers.
pub(crate) async fn finish(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_api = request.uri().path().starts_with("/api/");
    let (parts, body) = request.into_parts();
    let base = Base::of(&parts);
    let mut response = if !is_read && site.name_operator.is_none() {
        routes::read_only().into_response()
    } else if is_load_by_another_site(&parts) {
        routes::load_by_another_site().into_response()
    } else {
        next.run(Request::from_parts(parts, body)).await
    };
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        let headers = std::mem::take(response.headers_mut());
        response = if is_api {
            (failure.status, Json(FailureReport::of(&failure))).into_response()
        } else {
            (failure.status, pages::failure::page(&base, &failure)).into_response()
        };
        keep_allow(response.headers_mut(), &headers);
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A cached page would show stale locks.
    let stored = headers.entry(CACHE_CONTROL);
    stored.or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The `Allow` header of an address, for the refusal of another method.
fn keep_allow(to: &mut HeaderMap, from: &HeaderMap) {
    use axum::http::header::ALLOW;
    if let Some(allow) = from.get(ALLOW) {
        to.insert(ALLOW, allow.clone());
    }
}

#[derive(Debug, Serialize)]
struct FailureReport<'a> {
    error: &'a str,
}

impl FailureReport<'_> {
    fn of(failure: &Failure) -> FailureReport<'_> {
        FailureReport {
            error: &failure.detail,
        }
    }
}

/// Serves the style sheet.
pub(crate) async fn style() -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, "text/css; charset=utf-8"),
        // It reveals nothing about locks, and its address includes the version.
        (CACHE_CONTROL, "public, max-age=86400"),
    ];
    (headers, pages::STYLE)
}
