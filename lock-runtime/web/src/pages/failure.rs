//! The page of a failed request.

use axum::response::Html;
use maud::html;

use crate::base::Base;
use crate::failure::Failure;
use crate::link::{self, Link};
use crate::plain::Plain;

pub(crate) fn page(base: &Base, failure: &Failure) -> Html<String> {
    let content = html! {
        h1 { (failure.title) }
        p.notice role="alert" { (Plain(&failure.detail)) }
        @if failure.may_be_revoked {
            p.warning {
                "The revocation may have been carried out, unless the error states that nothing was done. Check the lock and its audit before you repeat it."
            }
        } @else if failure.status.is_server_error() {
            p { "The locks cannot be read until the server answers. Load the page again to retry." }
        }
        @if let Some(key) = &failure.lock {
            p.links {
                a href=(link::to_lock(base, key)) { "The lock now" }
                a href=(Link::new(base, "audit").with("key", key)) { "Audit of this lock" }
            }
        }
    };
    super::page(base, None, failure.title, &content)
}
