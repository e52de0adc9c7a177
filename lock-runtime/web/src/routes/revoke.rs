//! Revokes a lock.

use std::sync::Arc;

use axum::Form;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lock_runtime::inspect::{HolderRef, ParseHolderRefError, Revocation, Revoked};
use serde::Deserialize;

use super::query;
use super::runs::Recorded;
use crate::base::Base;
use crate::failure::Failure;
use crate::operator::is_same_site;
use crate::pages;
use crate::pages::lock::Notice;
use crate::plain::Plain;
use crate::site::Site;

/// The query of the form's address. Here browsers do not change line ends in a key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meant {
    key: String,
    reference: String,
}

/// The operator's input.
#[derive(Debug, Deserialize)]
struct Typed {
    reason: String,
    confirm: String,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    if !is_same_site(&parts) {
        return Err(Failure::forbidden(
            "The request was not sent by a page of this site, or the browser does not report it.",
        ));
    }
    let Some(operator) = site.operator(&parts) else {
        return Err(Failure::forbidden("Only operators may revoke a lock."));
    };
    let base = Base::of(&parts);
    let Meant { key, reference } = query(&parts.uri)?;
    let request = Request::from_parts(parts, body);
    let revoked = revoke(&site, &base, &operator, &key, &reference, request).await;
    revoked.map_err(|failure| failure.about(key))
}

/// Carries out the form of an authorised operator.
async fn revoke(
    site: &Site,
    base: &Base,
    operator: &str,
    key: &str,
    reference: &str,
    request: Request,
) -> Result<Response, Failure> {
    let holder: HolderRef = reference
        .parse()
        .map_err(|error: ParseHolderRefError| Failure::bad_request(error.to_string()))?;
    let typed = Form::from_request(request, &()).await;
    let Form(Typed { reason, confirm }) =
        typed.map_err(|error| Failure::new(error.status(), "Bad request", error.body_text()))?;
    if !is_confirmed(key, &confirm) {
        return Err(Failure::bad_request(
            "The typed key is not the lock's. Nothing was done.",
        ));
    }
    if reason.trim().is_empty() {
        return Err(Failure::bad_request(
            "A reason is required: the former holder and the audit get it. Nothing was done.",
        ));
    }
    let revocation = Revocation::new(operator, reason.trim());
    let revoked = site.client.revoke(key, holder, revocation).await;
    let lock = match revoked.map_err(Failure::of_revocation)? {
        Revoked::Done(receipt) => {
            return Ok(pages::revoked::page(base, &receipt).into_response());
        }
        Revoked::Changed(lock) => *lock,
        _ => match site.client.inspect(key).await {
            Ok(lock) => lock,
            // The revocation's answer is certain, although the lock's present state is not.
            Err(_) => return Err(not_held()),
        },
    };
    // Another caller may have taken it since. The page shows the present state.
    let notice = Notice::of(lock.is_held());
    let recorded = Recorded::of(&site.client, key).await;
    let page = pages::lock::page(base, &lock, &recorded, Some(operator), Some(notice));
    Ok((StatusCode::CONFLICT, page).into_response())
}

/// The response if the lock cannot be read.
fn not_held() -> Failure {
    Failure::new(
        StatusCode::CONFLICT,
        "Nothing was revoked",
        "The lock was free, and nothing was done.",
    )
}

/// Returns whether the key was typed, verbatim or as it was shown. Browsers trim neither.
fn is_confirmed(key: &str, typed: &str) -> bool {
    typed == key || typed == Plain(key).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_that_cannot_be_typed_is_confirmed_as_it_is_shown() {
        assert!(is_confirmed("order:42", "order:42"));
        assert!(is_confirmed("a\nb", "a\\u{a}b"));
        for typed in ["", "order:4", "order:42 ", "ORDER:42"] {
            assert!(!is_confirmed("order:42", typed), "{typed}");
        }
    }
}
