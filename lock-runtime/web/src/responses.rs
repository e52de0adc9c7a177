//! What all answers have: their headers, and pages for what failed.

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

/// No script, no frame, nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// Headers of all answers.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // For browsers that know no `frame-ancestors`.
    (X_FRAME_OPTIONS, "DENY"),
    // Keys go to no other site. With `no-referrer`, browsers would not tell a form's origin to this one either.
    (REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Answers a request: refuses what could change anything where nobody may and what another site's page loads, writes the pages of failures, and adds the headers.
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
        response = match is_api {
            true => (failure.status, Json(FailureReport::of(&failure))).into_response(),
            false => (failure.status, pages::failure::page(&base, &failure)).into_response(),
        };
        keep_allow(response.headers_mut(), &headers);
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What was true a moment ago should not be shown as if it still were.
    let stored = headers.entry(CACHE_CONTROL);
    stored.or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Which methods an address has, which a refusal of another one says.
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

/// How the pages look.
pub(crate) async fn style() -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, "text/css; charset=utf-8"),
        // It tells nothing of the locks, and pages name it with its version.
        (CACHE_CONTROL, "public, max-age=86400"),
    ];
    (headers, pages::STYLE)
}
